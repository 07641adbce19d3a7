"""A small FastAPI application that fastapi-mcp offers as tools: `fastapi_mcp_server.py TRANSPORT PORT`."""

from __future__ import annotations

import sys

import counting
import uvicorn
from fastapi import FastAPI
from fastapi_mcp import FastApiMCP

transport, port = sys.argv[1], int(sys.argv[2])
counting.answer_signals()
app = FastAPI(title="small")


@app.get("/add", operation_id="add")
def add(first: int, second: int) -> int:
    """Adds two whole numbers and returns their sum."""
    return first + second


server = FastApiMCP(app, name="small")
if transport == "http":
    server.mount_http()
elif hasattr(server, "mount_sse"):
    server.mount_sse()
else:
    server.mount(mount_path="/sse")
uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
