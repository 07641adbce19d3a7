"""Whether the server keeps to streamable HTTP: types, statuses, streams, origins."""
