"""Podman and Docker: containers are created, started and removed through the command line of the engine."""
