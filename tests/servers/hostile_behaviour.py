"""What hostile servers do in place of an answer, and when. A case is an upright server with one such twist."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from evidence.model import Reason
from tests.servers.conforming import MODERN, Upright
from tests.servers.hostile import Behaviour, Call, is_unknown_method

When = Callable[[Call], bool]
Change = Callable[[Any, Call], Any]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
METADATA = "http://169.254.169.254/latest/meta-data"
PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>Our product</body></html>"
WALL = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A hostile server and what a full probe must make of it.

    `make` gives a fresh server. `reason`: why there is no listing; None when there must be one. `fails`: the checks
    that it truly fails, no more and no less; None for a server so wrong that which ones it fails proves nothing.
    `sees`: a step and the reason why its answer could not be judged.
    """

    make: Callable[[], Behaviour]
    reason: Reason | None = None
    fails: frozenset[str] | None = frozenset()
    sees: tuple[str, str] | None = None


@dataclass
class Twist:
    """An upright server that does `deed` instead when `when` says so."""

    when: When
    deed: Behaviour
    inner: Behaviour = field(default_factory=Upright)

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        await (self.deed if self.when(call) else self.inner)(call)


@dataclass
class Altered:
    """An upright server whose messages are changed before they are sent, when `when` says so."""

    change: Change
    when: When = lambda call: True
    inner: Upright = field(default_factory=Upright)

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        if not self.when(call):
            await self.inner(call)
            return
        status, headers, message = await overheard(self.inner, call)
        changed = None if message is None else self.change(message, call)
        await call.reply(status, b"" if changed is None else json.dumps(changed).encode(), *headers)


async def overheard(inner: Behaviour, call: Call) -> tuple[int, list[tuple[str, str]], Any]:
    """What a server would have said: status, headers of its own, and the message (None for no body)."""

    class Ear(Call):
        said: bytes = b""

        async def send(self, data: bytes) -> None:
            self.said += data

    ear = Ear(call.verb, call.path, call.headers, call.body, call.writer, call.turn)
    await inner(ear)
    head, _, body = ear.said.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    own = [pair for pair in pairs if pair[0].lower() not in {"content-length", "content-type"}]
    return int(first.split()[1]), own, json.loads(body) if body else None


# When.


def method(*names: str) -> When:
    """The request has one of these methods."""
    return lambda call: asked(call).get("method") in names


def unknown_method(call: Call) -> bool:
    """The request has a method that no revision has."""
    return is_unknown_method(asked(call))


def verb(name: str) -> When:
    """The request has this HTTP verb."""
    return lambda call: call.verb == name


def malformed(call: Call) -> bool:
    """The body is no JSON."""
    return bool(call.body) and asked(call) == {}


def modern(call: Call) -> bool:
    """The request is of the modern era."""
    return call.headers.get("mcp-protocol-version") == MODERN


def since(turn: int) -> When:
    """From this request on."""
    return lambda call: call.turn >= turn


def every(number: int) -> When:
    """One request in `number`."""
    return lambda call: call.turn % number == 0


def always(call: Call) -> bool:
    """Every request."""
    return True


def both(*conditions: When) -> When:
    """All of these."""
    return lambda call: all(condition(call) for condition in conditions)


def not_(condition: When) -> When:
    """Not this."""
    return lambda call: not condition(call)


def asked(call: Call) -> Mapping[str, Any]:
    """The JSON-RPC message, or an empty object."""
    try:
        posted = json.loads(call.body) if call.body else {}
    except ValueError:
        return {}
    return posted if isinstance(posted, dict) else {}


def after(condition: When) -> When:
    """From the first request on that fits, without that request itself."""
    seen = False

    def check(call: Call) -> bool:
        nonlocal seen
        was, seen = seen, seen or condition(call)
        return was

    return check


# What.


def says(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str = "application/json") -> Behaviour:
    """A whole answer."""

    async def behave(call: Call) -> None:
        await call.reply(status, body, *headers, kind=kind)

    return behave


def error(code: int, words: str, *, status: int = 200, data: Any = None) -> Behaviour:
    """A JSON-RPC error."""

    async def behave(call: Call) -> None:
        problem = {"code": code, "message": words} | ({"data": data} if data is not None else {})
        await call.reply(status, json.dumps({"jsonrpc": "2.0", "id": asked(call).get("id"), "error": problem}).encode())

    return behave


def result(value: Any) -> Behaviour:
    """A JSON-RPC result."""

    async def behave(call: Call) -> None:
        await call.reply(200, json.dumps({"jsonrpc": "2.0", "id": asked(call).get("id"), "result": value}).encode())

    return behave


def raw(*chunks: bytes, then: str = "close", pause: float = 0) -> Behaviour:
    """Bytes as they are; then close, hold the connection, or repeat the last chunk for ever."""

    async def behave(call: Call) -> None:
        for chunk in chunks:
            await call.send(chunk)
            await asyncio.sleep(pause)
        while then == "repeat" and not call.writer.is_closing():
            await call.send(chunks[-1])
            await asyncio.sleep(pause)
        if then == "hold":
            await asyncio.sleep(30)
        call.writer.close()

    return behave


async def hang_up(call: Call) -> None:
    """Drop the connection."""
    call.writer.transport.abort()


async def silence(call: Call) -> None:
    """Say nothing."""
    await asyncio.sleep(30)


def streamed(
    *before: Any, after_it: tuple[Any, ...] = (), then: str = "close", inner: Behaviour | None = None
) -> Behaviour:
    """An upright answer on an event stream, with other messages before and behind it."""
    upright = inner or Upright()

    async def behave(call: Call) -> None:
        status, headers, message = await overheard(upright, call)
        if message is None or status != 200:
            body = b"" if message is None else json.dumps(message).encode()
            await call.reply(status, body, *headers)
            return
        own = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1")
        await call.send(STREAM[:-2] + own + b"\r\n")
        for one in (*before, message, *after_it):
            await call.send(b"event: message\ndata: " + json.dumps(one).encode() + b"\n\n")
        while then == "ping" and not call.writer.is_closing():
            await call.send(b": ping\n\n")
            await asyncio.sleep(0.05)
        if then == "hold":
            await asyncio.sleep(30)
        call.writer.close()

    return behave


def slowly(inner: Behaviour, seconds: float) -> Behaviour:
    """The same, later."""

    async def behave(call: Call) -> None:
        await asyncio.sleep(seconds)
        await inner(call)

    return behave


def dripping(head: bytes, drop: bytes, every_seconds: float = 0.05) -> Behaviour:
    """A head, then a drop every so often, so that no single read ever times out."""

    async def behave(call: Call) -> None:
        await call.send(head)
        while not call.writer.is_closing():
            await call.send(drop)
            await asyncio.sleep(every_seconds)

    return behave


@cache
def bomb(megabytes: int = 64) -> bytes:
    """Gzip that inflates a thousandfold."""
    return gzip.compress(bytes(megabytes << 20))


def gzipped() -> Behaviour:
    """A gzip bomb."""

    async def behave(call: Call) -> None:
        await call.reply(200, bomb(), ("Content-Encoding", "gzip"))

    return behave


def redirect(to: str, status: int = 307) -> Behaviour:
    """A redirect."""
    return says(status, b"", ("Location", to))
