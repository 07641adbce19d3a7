"""Sources of published advisories: a mirror of OSV's public export, or OSV's API; and the order of versions."""
