"""Whether messages are JSON-RPC and results match the published schemas."""
