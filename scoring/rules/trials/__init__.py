"""Results of test calls of tools."""
