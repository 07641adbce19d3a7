"""The dependencies of a server."""
