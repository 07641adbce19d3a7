"""What the protocol requires of every server."""
