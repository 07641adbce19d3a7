"""HTTP servers that misbehave: a behaviour is a coroutine that answers one request on a raw socket, or does worse."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """One request as the server sees it. `turn` counts the requests of this server from 1."""

    verb: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter
    turn: int

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message, or an empty object."""
        try:
            message = json.loads(self.body)
        except ValueError:
            return {}
        return message if isinstance(message, dict) else {}

    @property
    def method(self) -> str:
        """The JSON-RPC method; for other requests the verb."""
        return str(self.message.get("method", self.verb))

    async def send(self, data: bytes) -> None:
        """Write raw bytes; a client that hung up is fine."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError:
            self.writer.close()  # so that a repeated request fails

    async def reply(
        self, status: int = 200, body: bytes = b"", *headers: tuple[str, str], kind: str = "application/json"
    ) -> None:
        """A whole answer with Content-Length."""
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
        lines += [f"Content-Type: {kind}"] if kind else []
        lines += [f"{name}: {value}" for name, value in headers]
        await self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    async def result(self, value: Any, *headers: tuple[str, str], status: int = 200) -> None:
        """A JSON-RPC result under the request's id."""
        body = json.dumps({"jsonrpc": "2.0", "id": self.message.get("id"), "result": value}).encode()
        await self.reply(status, body, *headers)

    async def error(self, code: int, message: str, status: int = 200) -> None:
        """A JSON-RPC error under the request's id."""
        error = {"code": code, "message": message}
        body = json.dumps({"jsonrpc": "2.0", "id": self.message.get("id"), "error": error}).encode()
        await self.reply(status, body)


Behaviour = Callable[[Call], Awaitable[None]]

TOOLS = [
    {"name": "get_note", "description": "Returns one note.", "inputSchema": {"type": "object"}},
    {"name": "add_note", "description": "Adds a note.", "inputSchema": {"type": "object"}},
]
OPENING: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "fixture", "version": "1.0.0"},
}


KNOWN = frozenset(
    {"initialize", "server/discover", "ping", "logging/setLevel", "completion/complete", "subscriptions/listen"}
    | {"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"}
    | {"resources/subscribe", "prompts/list", "prompts/get"}
)
UNKNOWN = "unknown"
"""The name under which `Mcp` overrides the methods that no revision has: their names are random."""


def is_unknown_method(message: Any) -> bool:
    """Whether a message is a request with a method that no revision has."""
    return isinstance(message, dict) and "id" in message and message.get("method") not in KNOWN


@dataclass
class Mcp:
    """A well-behaved legacy server whose answers to some methods are replaced by `overrides`.

    One that answers `server/discover` agrees to the newest legacy version, as every server of both eras does.
    """

    overrides: dict[str, Behaviour] = field(default_factory=dict)
    opening: dict[str, Any] = field(default_factory=lambda: dict(OPENING))
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if "server/discover" in self.overrides:
            self.opening["protocolVersion"] = "2025-11-25"

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        self.asked.append(call.method)
        name = UNKNOWN if is_unknown_method(call.message) else call.method
        if override := self.overrides.get(name):
            await override(call)
        elif call.method == "initialize":
            await call.result(self.opening)
        elif call.method == "tools/list":
            await call.result({"tools": TOOLS})
        elif call.message and "id" not in call.message:
            await call.reply(202)
        elif call.verb == "POST":
            await call.error(-32601, "Method not found")
        else:
            await call.reply(405)


@contextlib.asynccontextmanager
async def serving(behaviour: Behaviour, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve a behaviour on loopback in the running loop; yields the URL of its `/mcp`."""
    turns = 0
    open_tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal turns
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        try:
            while (call := await _read(reader, writer)) is not None:
                turns += 1
                call.turn = turns
                await behaviour(call)
                if writer.is_closing():
                    break
        except (ConnectionError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            open_tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"{'https' if tls else 'http'}://{'localhost' if tls else '127.0.0.1'}:{port}/mcp"
    finally:
        server.close()
        for task in list(open_tasks):
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    verb, path, _ = lines[0].split(" ")
    return Call(verb, path, headers, body, writer, 0)
