"""Patterns of instructions to hide something from the user."""
