"""Availability samples: one attempt to connect, and the window of the last 30 days."""
