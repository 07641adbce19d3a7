"""Verifies an untrusted snapshot: files, signature, and every score computed again. It never reads the store."""
