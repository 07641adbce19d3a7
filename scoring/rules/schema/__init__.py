"""Input and output schemas."""
