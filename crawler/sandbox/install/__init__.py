"""Installation of packages from the user's package indexes, and reading of what was installed."""
