"""Whether the server opens as its revisions ask: handshake, discovery, versions, ping."""
