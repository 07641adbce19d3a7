"""One module per evidence kind: schema number, typed tolerant view, upcaster."""
