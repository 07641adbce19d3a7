"""Formats text and numbers for people: escapes, masks secrets, lays out declared text.

It reads no evidence and knows no output format.
"""
