"""Installed trees in the cache: sealed, looked at before use, held while used, and evicted."""
