"""Bytes that were almost right: valid traffic, bent at random, and cut into chunks at random places."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from crawler.launcher import ProcessExit
from evidence.canonical import Json
from evidence.kinds import behaviour
from evidence.model import Absent, Target
from tests.servers.hostile import OPENING, TOOLS, Behaviour, Call

_RESULTS: Mapping[str, Any] = {
    "initialize": OPENING,
    "tools/list": {"tools": TOOLS},
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0},
}
_NOISE = (
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b",", b":", b'"',
    b"\\u", b"data: ", b"event: endpoint\n", b"id: \n", b": ping\n\n", b"HTTP/1.1 ", b"HTTP/1.1 100 Continue\r\n\r\n",
    b"Content-Length: 3\r\n", b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n", b"Content-Type: text/event-stream\r\n", b"Mcp-Session-Id: \x01\r\n", b"0\r\n\r\n",
    b"ffffffffffffffff\r\n", b"1e999", b"-0", b"NaN", b"null", b'"id":1', b'"id":"1"', b'"id":null', b'"result":{}',
    b'"error":{"code":1e400}', b'"method":"ping"', b'"nextCursor":"x"', b"[" * 200, b'{"a":' * 200,
)  # fmt: skip


def message(method: str, number: Json = 1) -> bytes:
    """A right answer to a method, or the error for an unknown one."""
    if method in _RESULTS:
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": _RESULTS[method]}).encode()
    error = {"code": -32601, "message": "Method not found"}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()


def as_json(body: bytes) -> bytes:
    """A body as an HTTP answer."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def as_stream(body: bytes) -> bytes:
    """A body as one event of a stream that ends with its connection."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return head + b"id: 1\ndata: \n\nevent: message\ndata: " + body + b"\n\n"


def as_chunks(body: bytes) -> bytes:
    """A body in chunks, compressed."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"
    )
    packed = gzip.compress(body)
    return head + b"\r\n%x\r\n%s\r\n0\r\nT: t\r\n\r\n" % (len(packed), packed)


ANSWERS = (as_json, as_stream, as_chunks)


@st.composite
def bends(draw: st.DrawFn) -> tuple[tuple[str, float, float, bytes], ...]:
    """Up to six changes: what is done, where (as a share), over how much, with which bytes."""
    kinds = st.sampled_from(["insert", "delete", "double", "replace", "cut"])
    share = st.floats(0, 1)
    noise = st.one_of(st.sampled_from(_NOISE), st.binary(max_size=12))
    return tuple(draw(st.lists(st.tuples(kinds, share, share, noise), max_size=6)))


def bend(data: bytes, changes: Sequence[tuple[str, float, float, bytes]]) -> bytes:
    """The data with these changes."""
    for kind, where, much, noise in changes:
        at = int(where * len(data))
        end = min(len(data), at + 1 + int(much * 24))
        if kind == "insert":
            data = data[:at] + noise + data[at:]
        elif kind == "delete":
            data = data[:at] + data[end:]
        elif kind == "double":
            data = data[:end] + data[at:]
        elif kind == "replace":
            data = data[:at] + noise + data[end:]
        else:
            data = data[:at]
    return data


def pieces(data: bytes, cuts: Sequence[float]) -> list[bytes]:
    """The data cut at these shares."""
    places = sorted({int(cut * len(data)) for cut in cuts})
    edges = [0, *places, len(data)]
    return [data[start:end] for start, end in pairwise(edges) if start < end]


CUTS = st.lists(st.floats(0, 1), max_size=6)


def answering(form: Any, changes: Sequence[tuple[str, float, float, bytes]], cuts: Sequence[float]) -> Behaviour:
    """A server that bends each of its answers in the same way and then hangs up."""

    async def behave(call: Call) -> None:
        try:
            asked = json.loads(call.body)
        except ValueError:
            asked = {}
        asked = asked if isinstance(asked, dict) else {}
        whole = form(message(str(asked.get("method")), asked.get("id", 1)))
        for piece in pieces(bend(whole, changes), cuts):
            await call.send(piece)
            await asyncio.sleep(0)
        call.writer.close()

    return behave


class Bent:
    """A started process that bends its answers; it lives in memory."""

    runtime = "none"

    def __init__(self, changes: Sequence[tuple[str, float, float, bytes]], cuts: Sequence[float]) -> None:
        self._changes, self._cuts = changes, cuts
        self._output: asyncio.Queue[bytes] = asyncio.Queue()

    @property
    def facts(self) -> Mapping[str, Json]:
        """What was started."""
        return {"command": "test"}

    @property
    def behaviour(self) -> behaviour.Behaviour | Absent:
        """Nothing."""
        return behaviour.Behaviour()

    async def launch(self, target: Target) -> Bent | Absent:
        """Start another one."""
        return Bent(self._changes, self._cuts)

    async def read(self, limit: int) -> bytes:
        """What it wrote, piece by piece."""
        return await self._output.get()

    async def write(self, data: bytes) -> None:
        """Answer each line that is a request."""
        for line in data.splitlines():
            try:
                asked = json.loads(line)
            except ValueError:
                continue
            if isinstance(asked, dict) and "id" in asked:
                answer = message(str(asked.get("method")), asked["id"]) + b"\n"
                for piece in pieces(bend(answer, self._changes), self._cuts):
                    self._output.put_nowait(piece)

    async def close_stdin(self) -> None:
        """Exit."""
        self._output.put_nowait(b"")

    async def stop(self) -> ProcessExit:
        """Be gone."""
        self._output.put_nowait(b"")
        return ProcessExit(0, "")
