"""The MCP client: JSON-RPC framing, the transports (streamable HTTP, HTTP+SSE, stdio) and the transcript of a session.

HTTP requests go through `crawler.http`; what to ask a server is decided in `crawler.collectors.protocol`.
"""
