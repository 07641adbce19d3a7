"""Podman and Docker: containers made, entered and removed through the command line of the engine."""
