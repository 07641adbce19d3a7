"""What a server is built from."""
