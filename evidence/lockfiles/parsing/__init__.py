"""Bounded parsers for lockfile formats: text, JSON, TOML, a subset of YAML, and XML.

The formats are modules of evidence.lockfiles.
"""
