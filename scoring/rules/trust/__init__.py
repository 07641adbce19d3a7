"""The publisher of a server."""
