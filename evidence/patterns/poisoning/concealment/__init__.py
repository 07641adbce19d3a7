"""Patterns of instructions that hide something from the user."""
