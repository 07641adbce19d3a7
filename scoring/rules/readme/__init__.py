"""The documentation that a user reads before the first start."""
