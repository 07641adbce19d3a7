"""Monitoring of a running server in its box: held system calls and decoy files."""
