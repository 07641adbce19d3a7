"""Published advisories: OSV records, whether one affects a version, aliases, severity. Nothing is fetched here."""
