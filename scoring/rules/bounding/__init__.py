"""Limits on what a call may contain."""
