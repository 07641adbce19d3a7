"""What the protocol asks of every server."""
