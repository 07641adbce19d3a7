"""Who stands behind a server."""
