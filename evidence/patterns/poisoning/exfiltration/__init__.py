"""Patterns of instructions that disclose secrets, private files or the conversation."""
