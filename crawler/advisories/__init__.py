"""Where published advisories come from: a mirror of OSV's public export, or its API; and the order of versions."""
