"""A local OSV on a loopback port: `with running(world) as base: ...`, where `base` serves both export and API."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from tests.servers.osv.world import Answer, OsvWorld
from tests.servers.serving import in_thread, on_loopback


@contextlib.contextmanager
def running(world: OsvWorld) -> Iterator[str]:
    """Serve from a thread of this process; yields the base URL."""
    with in_thread(lambda: on_loopback(lambda: _Connection(world)), "the local OSV") as port:
        yield f"http://127.0.0.1:{port}"


class _Connection(asyncio.Protocol):
    """One HTTP/1.1 connection with keep-alive; bodies of requests have a content-length."""

    def __init__(self, world: OsvWorld) -> None:
        self.world = world
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, rest = self.buffer.split(b"\r\n\r\n", 1)
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines)
            size = int(headers.get("content-length", "0"))
            if len(rest) < size:
                return
            body, self.buffer = rest[:size], rest[size:]
            method, target, _ = first.split(" ", 2)
            self._write(self.world.answer(method, target, body))

    def _write(self, answer: Answer) -> None:
        headers = {"content-type": "application/json", "content-length": str(len(answer.body)), **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + answer.body[: answer.cut])
        if answer.cut is not None:
            self.transport.close()
