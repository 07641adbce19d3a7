"""Installed trees in the cache: sealed, verified before use, held during use, and evicted."""
