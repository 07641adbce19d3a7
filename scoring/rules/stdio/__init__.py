"""Whether the server keeps to standard streams, and to the older HTTP+SSE transport."""
