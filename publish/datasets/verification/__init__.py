"""Checks a snapshot that is not trusted: files, signature, and every score computed again. It never reads the store."""
