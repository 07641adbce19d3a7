"""The kind `access`: unauthenticated requests, the access challenge, authorization metadata of a locked server."""
