"""Parsing of text values: words, URIs, web origins, domains, timestamps, JavaScript strings, evidence paths.

Nothing here knows rules, scopes or scores.
"""
