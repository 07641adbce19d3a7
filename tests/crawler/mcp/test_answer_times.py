"""The time of an answer is when its first byte arrived, whatever the server does before and after it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.url import parse_url
from crawler.mcp.channel import Era
from crawler.mcp.event_stream import EventReader
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import Exchange, Transcript
from evidence.model import TargetType
from tests.servers.hostile import Behaviour, Call, serving

OK = b"HTTP/1.1 200 OK\r\n"
JSON = OK + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM = OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PAUSE = 0.05


@dataclass
class Times:
    """Times of the event loop, which client and server share."""

    sent: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)


def now() -> float:
    return asyncio.get_running_loop().time()


def answer(call: Call) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call.message["id"], "result": {"text": "x" * 2000}}).encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def with_pauses(times: Times, head: bytes, prefix: bytes, form: bytes, cut: int) -> Behaviour:
    """The head and a prefix, a pause, the answer up to `cut`, a pause, and the rest."""

    async def behave(call: Call) -> None:
        body = form % answer(call)
        await call.send(head + (chunk(prefix) if prefix else b""))
        await asyncio.sleep(PAUSE)
        times.sent.append(now())
        await call.send(chunk(body[:cut]))
        await asyncio.sleep(PAUSE)
        times.ended.append(now())
        await call.send((chunk(body[cut:]) if body[cut:] else b"") + chunk(b""))

    return behave


@contextlib.asynccontextmanager
async def posting(url: str, kind: TargetType, limiter: HostRateLimiter | None = None) -> AsyncIterator[JsonRpcPost]:
    engine = HttpEngine(user_agent="Hallmark/0", guard=AddressGuard(allow_private=True))
    async with engine.open_session(seconds=60) as session:
        yield JsonRpcPost(
            session,
            parse_url(url),
            limiter or HostRateLimiter(),
            Transcript(),
            transport=kind,
            gapless=limiter is None,
        )


def arrived(post: JsonRpcPost, exchange: Exchange) -> float:
    """The event loop's time that an exchange gives for its answer."""
    return exchange.began + exchange.seconds - post.at(0)


FORMS = {
    "JSON whose body ends later": (JSON, b"", b"%s", 10_000),
    "JSON that arrives in two parts": (JSON, b"", b"%s", 100),
    "JSON after blanks": (JSON, b" \r\n", b"%s", 10_000),
    "a stream that stays open": (STREAM, b"", b"data: %s\n\n", 10_000),
    "a stream with a comment and a notification first": (
        STREAM,
        b': hi\n\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n',
        b"event: message\ndata: %s\n\n",
        10_000,
    ),
    "an event that arrives in two parts": (STREAM, b"", b"data: %s\n\n", 100),
    "an event without its blank line": (STREAM, b": hi\n", b"data: %s", 100),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_is_as_old_as_its_first_byte(form: str) -> None:
    times = Times()

    async def run() -> float:
        server = serving(with_pauses(times, *FORMS[form]))
        async with server as url, posting(url, TargetType.STREAMABLE_HTTP) as post:
            reply = await StreamableHttp(post, "0").send_request("tools/list", {}, Era.LEGACY)
            assert reply.result
            return arrived(post, reply.exchange)

    at = asyncio.run(run())

    assert times.sent[0] <= at <= times.ended[0]


def test_an_answer_on_a_stream_is_older_than_the_late_end_of_the_post() -> None:
    """Of HTTP+SSE; the wait for the rate limit comes before the question."""
    streams: list[Call] = []
    times, waited = Times(), Times()

    async def behave(call: Call) -> None:
        if call.verb == "GET":
            streams.append(call)
            await call.send(STREAM + chunk(b"event: endpoint\ndata: /messages\n\n"))
            await asyncio.sleep(60)
        await asyncio.sleep(PAUSE)
        times.sent.append(now())
        await streams[0].send(chunk(b"data: %s\n\n" % answer(call)))
        await asyncio.sleep(PAUSE)
        times.ended.append(now())
        await call.reply(202)

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(PAUSE)
        waited.ended.append(now())

    async def run() -> tuple[float, float]:
        limiter = HostRateLimiter(gap=1.0, tick=lambda: 0.0, sleep=sleep)
        async with serving(behave) as url, posting(url, TargetType.SSE, limiter) as post:
            channel = SseChannel(post)
            await channel.open()
            reply = await channel.send_request("tools/list", {}, Era.LEGACY)
            assert reply.result
            return reply.exchange.began - post.at(0), arrived(post, reply.exchange)

    began, at = asyncio.run(run())

    assert waited.ended[-1] <= began
    assert times.sent[0] <= at <= times.ended[0]


def test_a_failure_takes_until_it_is_noticed() -> None:
    async def behave(call: Call) -> None:
        await call.send(OK + b"Content-Length: 9\r\n\r\n{")
        await asyncio.sleep(60)

    async def run() -> Exchange:
        limits = Limits(first_byte=20, between_bytes=0.1, total=20)
        async with serving(behave) as url, posting(url, TargetType.STREAMABLE_HTTP) as post:
            return (await post.send("POST", "ping", b"{}", number=1, limits=limits)).exchange

    exchange = asyncio.run(run())

    assert exchange.failure
    assert exchange.seconds >= 0.1


def test_each_event_has_the_time_of_its_first_data() -> None:
    reader = EventReader()

    pieces = (b": hi\n\ndata: a\nda", b"ta: b\n\ndata: c\n\nevent: e\n", b"data: d\n\n", b"data: last")
    found = [event for at, piece in enumerate(pieces, 1) for event in reader.feed(piece, at)]

    assert [(one.data, one.at) for one in [*found, *reader.finish()]] == [
        (b"a\nb", 1),
        (b"c", 2),
        (b"d", 3),
        (b"last", 4),
    ]
