"""Builds the crawler from the settings: the guarded network, registries, collectors, request budgets, and the local
caches of packages and advisories.

Collectors themselves are in `crawler`.
"""
