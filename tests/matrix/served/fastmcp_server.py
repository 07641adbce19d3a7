"""A small server on FastMCP 0.4 to 4: `fastmcp_server.py TRANSPORT PORT`."""

from __future__ import annotations

import inspect
import os
import sys

import counting

transport, port = sys.argv[1], int(sys.argv[2])
for prefix in ("FASTMCP", "FASTMCP_SERVER"):
    os.environ[f"{prefix}_STATELESS_HTTP"] = str(transport == "stateless")
    os.environ[f"{prefix}_JSON_RESPONSE"] = str(transport == "json")
    os.environ[f"{prefix}_HOST"], os.environ[f"{prefix}_PORT"] = "127.0.0.1", str(port)
    os.environ[f"{prefix}_LOG_LEVEL"] = "ERROR"
os.environ["FASTMCP_CHECK_FOR_UPDATES"] = "off"

from fastmcp import FastMCP  # noqa: E402


def add(first: int, second: int) -> int:
    """Adds two whole numbers and returns their sum."""
    return first + second


counting.answer_signals()
server = FastMCP("small")
server.tool()(add)
name = transport if transport in {"stdio", "sse"} else "streamable-http"
accepted = inspect.signature(server.run).parameters
more = {"show_banner": False} if "show_banner" in accepted else {}
if "transport_kwargs" in accepted and name != "stdio":
    more |= {"host": "127.0.0.1", "port": port}
server.run(name, **more)
