"""Reads some listed resources, and encodes the texts of resources and tool results as kind `handouts`."""
