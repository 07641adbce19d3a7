"""Whether the server follows streamable HTTP: types, statuses, streams, origins."""
