"""How a protected server names its authorization server (MCP authorization, RFC 9728, RFC 8414)."""
