"""Whether the server follows its revisions at the start: handshake, discovery, versions, ping."""
