"""Bounded parsers below the lockfile formats: text, JSON, TOML, the YAML subset and XML.

Formats are modules of evidence.lockfiles.
"""
