"""The guarded HTTP engine, MCP framing with transcript, and the sandbox."""
