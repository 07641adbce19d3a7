"""Hints about what a tool does."""
