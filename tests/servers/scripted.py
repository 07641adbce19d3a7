"""N deterministic MCP servers in one process: `python -m tests.servers.scripted --count 50 --seed 1 --port-file F`.

Server i answers at `/s/<i>/mcp` (streamable HTTP) and, except modern-only ones, at `/s/<i>/sse` (HTTP+SSE, 2024-11-05).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers.scripted_answers import MODERN, Script, encode
from tests.servers.serving import in_thread

HTML = b"<!doctype html><html><head><title>Welcome</title></head><body><h1>Our product</h1></body></html>"
REASONS = {
    401: "Unauthorized",
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
}


@dataclass
class Fleet:
    """`count` scripted servers. `sessions` maps an open HTTP+SSE session to the transport of its stream."""

    count: int
    seed: int
    latency: float = 0.0
    sessions: dict[str, asyncio.Transport] = field(default_factory=dict)
    served: int = 0

    async def serve(
        self, port: int = 0, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> asyncio.Server:
        """Listen and answer; the port is that of `server.sockets[0]`."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: _Connection(self), host, port, backlog=4096, ssl=tls)


class _Connection(asyncio.Protocol):
    """One HTTP/1.1 connection with keep-alive."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.buffer = b""
        self.session: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.session:
            self.fleet.sessions.pop(self.session, None)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, rest = self.buffer.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            method, path, _ = lines[0].split(" ", 2)
            self.respond(self.route(method, path, headers, rest[:length]))

    def respond(self, answer: bytes) -> None:
        if self.fleet.latency:
            asyncio.get_running_loop().call_later(self.fleet.latency, self.write, answer)
        else:
            self.write(answer)

    def write(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)

    def route(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        self.fleet.served += 1
        parts = path.partition("?")[0].strip("/").split("/")
        if len(parts) != 3 or parts[0] != "s" or not parts[1].isdigit() or int(parts[1]) >= self.fleet.count:
            return reply(404, b"no such server", content_type="text/plain")
        script = Script(self.fleet.seed, int(parts[1]))
        if fault := fault_reply(script):
            return fault
        match method, parts[2]:
            case "POST", "mcp":
                return streamable(script, headers, body)
            case "DELETE", "mcp":
                return reply(200, b"")
            case "GET", "sse" if script.era != "modern":
                return self.open_stream(script)
            case "POST", "messages":
                return self.message(script, path.rpartition("session=")[2], body)
            case _:
                return reply(405, b"")

    def open_stream(self, script: Script) -> bytes:
        self.session = f"{script.number}-{self.fleet.served}"
        self.fleet.sessions[self.session] = self.transport
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        endpoint = f"/s/{script.number}/messages?session={self.session}"
        return head + b"event: endpoint\r\ndata: " + endpoint.encode() + b"\r\n\r\n"

    def message(self, script: Script, session: str, body: bytes) -> bytes:
        stream = self.fleet.sessions.get(session)
        if stream is None:
            return reply(404, b"no such session", content_type="text/plain")
        answer = script.answer(json.loads(body), modern=False)
        if answer is not None:
            stream.write(b"event: message\r\ndata: " + encode(answer) + b"\r\n\r\n")
        return reply(202, b"Accepted", content_type="text/plain")


def fault_reply(script: Script) -> bytes | None:
    """The constant answer of a server that is gated, broken, not MCP or rate limited."""
    match script.fault:
        case "gated":
            challenge = 'Bearer realm="scripted", resource_metadata="/.well-known/oauth-protected-resource"'
            body = b'{"error":"invalid_token","error_description":"Authentication required"}'
            return reply(401, body, headers={"www-authenticate": challenge})
        case "broken":
            return reply(500, b"Internal Server Error", content_type="text/plain")
        case "html":
            return reply(200, HTML, content_type="text/html; charset=utf-8")
        case "limited":
            return reply(429, b"Too many requests", content_type="text/plain", headers={"retry-after": "0"})
        case _:
            return None


def streamable(script: Script, headers: dict[str, str], body: bytes) -> bytes:
    """The answer to a POST of streamable HTTP in the eras that the script speaks."""
    try:
        message = json.loads(body)
    except ValueError:
        return reply(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}')
    if not isinstance(message, dict):
        return reply(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Batches are not supported"}}')
    modern = headers.get("mcp-protocol-version") == MODERN
    opening = message.get("method") in {"initialize", "server/discover"}
    if script.session and not modern and not opening and headers.get("mcp-session-id") != script.session:
        return reply(
            400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no valid session"}}'
        )
    answer = script.answer(message, modern=modern)
    if answer is None:
        return reply(202, b"")
    code = answer.get("error", {}).get("code")
    if code in {-32022, -32601} and opening:
        return reply(400, encode(answer))
    session = {"mcp-session-id": script.session} if script.session and message["method"] == "initialize" else {}
    if script.answers_in_sse:
        event = b"event: message\r\ndata: " + encode(answer) + b"\r\n\r\n"
        return reply(200, event, content_type="text/event-stream", headers=session)
    return reply(200, encode(answer), headers=session)


def reply(
    status: int, body: bytes, *, content_type: str = "application/json", headers: dict[str, str] | None = None
) -> bytes:
    """A whole HTTP/1.1 response with Content-Length."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", f"content-length: {len(body)}"]
    if body:
        lines.append(f"content-type: {content_type}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextlib.contextmanager
def running(
    count: int, seed: int = 1, *, latency: float = 0.0, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> Iterator[str]:
    """Serve a fleet from a thread of this process; yields the base URL, without a trailing slash."""
    with in_thread(lambda: Fleet(count, seed, latency).serve(host=host, tls=tls), "the scripted fleet") as port:
        yield f"{'https' if tls else 'http'}://{host}:{port}"


def main(arguments: list[str] | None = None) -> None:
    """Serve until killed; the port is printed and, with --port-file, written whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--tls-cert", type=Path)
    parser.add_argument("--tls-key", type=Path)
    options = parser.parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> None:
    tls = None
    if options.tls_cert:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.tls_cert, options.tls_key)
    fleet = Fleet(options.count, options.seed, options.latency_ms / 1000)
    server = await fleet.serve(options.port, host=options.host, tls=tls)
    port = server.sockets[0].getsockname()[1]
    if options.port_file:
        partial = options.port_file.with_suffix(".partial")
        partial.write_text(str(port))
        os.replace(partial, options.port_file)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    main()
