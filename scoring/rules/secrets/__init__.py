"""Secrets that stand in a server's own files."""
