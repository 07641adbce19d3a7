"""Patterns of prompt injection: override of instructions, false authority, missing consent, commands, system tags.

Concealment from the user has its own package.
"""
