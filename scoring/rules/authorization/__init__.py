"""How a locked server says who lets people in (MCP authorization, RFC 9728, RFC 8414)."""
