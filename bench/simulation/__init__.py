"""A registry, thousands of MCP servers and their names on loopback, in a network of their own."""
