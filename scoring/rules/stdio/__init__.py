"""Whether the server follows the stdio transport, and the older HTTP+SSE transport."""
