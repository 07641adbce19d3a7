"""How the control is served: three transports, three eras, one event store for the streams of the legacy era."""

from __future__ import annotations

import socket
import sys
from enum import StrEnum
from itertools import count
from typing import Any, Final

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.runner import serve_loop
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import JSONRPCMessage
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from tests.servers.control.eras import LegacyOnly, ModernOnly
from tests.servers.control.server import build

SECURITY: Final = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
)
RETRY_MS: Final = 200


class Era(StrEnum):
    """Which eras the control speaks."""

    DUAL = "dual"
    LEGACY = "legacy"
    MODERN = "modern"


class Events(EventStore):
    """Events of all streams in memory, so that a client can read on after a stream was closed."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._events: dict[str, tuple[str, JSONRPCMessage | None]] = {}

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep one event and name it."""
        event = str(next(self._numbers))
        self._events[event] = (stream_id, message)
        return event

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came on the same stream afterwards."""
        if last_event_id not in self._events:
            return None
        stream, _ = self._events[last_event_id]
        for event, (of, message) in list(self._events.items()):
            if int(event) > int(last_event_id) and of == stream and message is not None:
                await send_callback(EventMessage(message, event))
        return stream


def streamable_http(era: Era) -> ASGIApp:
    """The control over streamable HTTP at `/mcp`."""
    server = build(modern_only=era is Era.MODERN)
    app = server.streamable_http_app(event_store=Events(), retry_interval=RETRY_MS, transport_security=SECURITY)
    wrapped: dict[Era, type[LegacyOnly | ModernOnly]] = {Era.LEGACY: LegacyOnly, Era.MODERN: ModernOnly}
    return wrapped[era](app) if era in wrapped else app


def sse() -> ASGIApp:
    """The control over HTTP+SSE at `/sse`: a transport of the legacy era only."""
    server = build()
    transport = SseServerTransport("/messages/", security_settings=SECURITY)

    async def open_stream(request: Request) -> Response:
        streams = transport.connect_sse(request.scope, request.receive, request._send)
        async with streams as (reading, writing), server.lifespan(server) as state:
            await serve_loop(server, reading, writing, lifespan_state=state)
        return Response()

    return Starlette(
        routes=[
            Route("/sse", endpoint=open_stream, methods=["GET"]),
            Mount("/messages/", app=transport.handle_post_message),
        ]
    )


async def stdio(era: Era) -> None:
    """The control on standard input and output."""
    server: Server[Any] = build(modern_only=era is Era.MODERN)
    async with stdio_server() as (reading, writing):
        if era is Era.LEGACY:
            async with server.lifespan(server) as state:
                await serve_loop(server, reading, writing, lifespan_state=state)
        else:
            await server.run(reading, writing, server.create_initialization_options())


def serve(transport: str, era: Era, port: int) -> None:
    """Serve until killed. Over HTTP the port is printed once the socket listens."""
    if transport == "stdio":
        anyio.run(stdio, era)
        return
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    app = sse() if transport == "sse" else streamable_http(era)
    # h11 trims the white space around header values (RFC 9110, 5.5), which the faster parser leaves there.
    config = uvicorn.Config(app, http="h11", log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])
