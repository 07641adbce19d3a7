"""Patterns by which a tool or server promotes itself to the model."""
