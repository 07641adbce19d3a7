"""A small FastMCP server, for FastMCP 2 and 4: run by the interpreter of the environment that has it."""

from __future__ import annotations

import sys

from fastmcp import FastMCP  # type: ignore[import-not-found, unused-ignore]

server = FastMCP("fastmcp-small", version="1.2.3", instructions="Add numbers, read the welcome.")


@server.tool(annotations={"readOnlyHint": True})
def add(first: int, second: int) -> int:
    """Adds two whole numbers and returns their sum."""
    return first + second


@server.resource("memo://welcome", mime_type="text/plain")
def welcome() -> str:
    """The text that newcomers read first."""
    return "Welcome"


@server.prompt()
def summarise(text: str) -> str:
    """Summarises a text for a busy reader."""
    return f"Summarise: {text}"


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp", show_banner=False)
