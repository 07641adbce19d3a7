"""The same small server on the official SDK over any transport: `python -m tests.servers.sdk_server TRANSPORT`."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

# The SDK draws the traceback of each refusal for a terminal, which takes ten times as long as to answer.
server = MCPServer("sdk-fixture", version="3.2.1", instructions="Add first, then greet.", log_level="CRITICAL")


@server.tool()
def add(first: int, second: int) -> int:
    """Adds two whole numbers and returns their sum."""
    return first + second


@server.tool()
def greet(name: str) -> str:
    """Returns a greeting for a person."""
    return f"Hello, {name}"


@server.resource("memo://welcome")
def welcome() -> str:
    """The text that newcomers read first."""
    return "Welcome"


@server.resource("memo://{topic}/text")
def topic_text(topic: str) -> str:
    """The text on one topic."""
    return topic


@server.prompt()
def summarise(text: str) -> str:
    """Summarises a text for a busy reader."""
    return f"Summarise: {text}"


def main(transport: str) -> None:
    """Serve on stdio, or print the port of a loopback socket and serve HTTP there."""
    if transport == "stdio":
        server.run("stdio")
        return
    import socket

    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    app = server.sse_app() if transport == "sse" else server.streamable_http_app(json_response="json" in sys.argv)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
