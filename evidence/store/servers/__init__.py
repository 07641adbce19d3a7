"""Servers and the registry entries that name them: lookup, and the progress of walks over registries.

Evidence about servers is in records.
"""
