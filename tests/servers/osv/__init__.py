"""A local OSV: the public export and the API, written from their documentation."""
