"""Published advisories: OSV records, affected versions, aliases and severity. Nothing is fetched here."""
