"""The MCP server over published results: its tools, their answers, and the HTTP endpoint.

The client that collects evidence is in crawler.
"""
