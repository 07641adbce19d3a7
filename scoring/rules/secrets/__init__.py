"""Secrets in the files of a server."""
