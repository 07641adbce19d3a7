"""A small server on the official Python SDK, 1.2 to 2: `python_sdk.py TRANSPORT PORT`."""

from __future__ import annotations

import sys

import counting

transport, port = sys.argv[1], int(sys.argv[2])
MODES = {"stateless": {"stateless_http": True}, "json": {"json_response": True}}
options = MODES.get(transport, {})


def add(first: int, second: int) -> int:
    """Adds two whole numbers and returns their sum."""
    return first + second


counting.answer_signals()
try:
    from mcp.server.fastmcp import FastMCP
except ImportError:
    from mcp.server import MCPServer

    server = MCPServer("small")
    options |= {"host": "127.0.0.1", "port": port}
    run = {} if transport == "stdio" else options
else:
    server = FastMCP("small", host="127.0.0.1", port=port, log_level="ERROR", **options)
    run = {}
server.tool()(add)
if transport == "sse":
    run = {key: value for key, value in run.items() if key in {"host", "port"}}
server.run(transport if transport in {"stdio", "sse"} else "streamable-http", **run)
