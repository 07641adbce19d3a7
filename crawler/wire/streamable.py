"""MCP over streamable HTTP (2025-03-26 and later), legacy and modern, answered as JSON or as an event stream."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Final

from crawler.courtesy import Courtesy, retry_after
from crawler.credentials import Credential
from crawler.wire import rpc
from crawler.wire.address import Url
from crawler.wire.connection import Limits
from crawler.wire.events import EventReader
from crawler.wire.failures import InvalidTarget, Malformed, TimedOut, TooLarge, WireFailure
from crawler.wire.http import Request, Response, Visit
from crawler.wire.mcp import MODERN_VERSION, Era, modern_params
from crawler.wire.redaction import Redaction
from crawler.wire.transcript import Exchange, Reply, Transcript, kept_headers
from evidence.canonical import Json
from evidence.model import TargetType

MOST_EVENTS: Final = 2_000  # of one stream; each costs a parse
_HOPS: Final = 3
_KEEP_METHOD: Final = frozenset({307, 308})
_SESSION: Final = re.compile(r"[\x21-\x7e]{1,1024}")
_STREAM_TAIL: Final = 0.25  # seconds for a stream to end after its answer, so that the connection can be reused
_OURS: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "mcp-method"}
    | {"mcp-protocol-version", "mcp-session-id", "te", "transfer-encoding", "upgrade", "user-agent"}
)
_STREAM_MARKS: Final = (b"event:", b"data:", b"id:", b":")


class Post:
    """POSTs JSON-RPC messages to one URL and reads the answers; shared by both HTTP transports."""

    def __init__(
        self,
        visit: Visit,
        url: Url,
        courtesy: Courtesy,
        transcript: Transcript,
        *,
        headers: Sequence[tuple[str, str]] = (),
        transport: TargetType = TargetType.STREAMABLE_HTTP,
        gapless: bool = False,
        credential: Credential | None = None,
    ) -> None:
        self.visit = visit
        self.url = url
        self.courtesy = courtesy
        self.transcript = transcript
        self._transport = transport
        self.gapless = gapless
        self.headers = tuple(pair for pair in headers if pair[0].lower() not in _OURS)
        self.redaction = credential.redaction if credential else Redaction()
        self._credential = credential
        self._loop = asyncio.get_running_loop()
        self._born = self._loop.time()

    def turn(self) -> AbstractAsyncContextManager[None]:
        """The host's turn; the operator's own targets are asked without delay."""
        return nullcontext() if self.gapless else self.courtesy.turn(self.url.origin.host)

    def sent_headers(self) -> tuple[tuple[str, str], ...]:
        """What goes with a request to the present URL: the declared headers, and the credential that belongs there."""
        secret = self._credential.headers_for(self.url) if self._credential else ()
        names = {name for name, _ in secret}
        return (*(pair for pair in self.headers if pair[0].lower() not in names), *secret)

    def now(self) -> float:
        """Seconds since the probe began."""
        return self._loop.time() - self._born

    async def send(
        self,
        verb: str,
        label: str,
        body: bytes,
        headers: Sequence[tuple[str, str]] = (),
        *,
        number: int = 0,
        strict: bool = True,
        limits: Limits | None = None,
    ) -> Reply:
        """One request with same-origin 307/308 redirects followed; the last answer counts, all are recorded.

        `number` 0 expects no answer. `strict`: a 200 whose body is neither JSON nor an event stream is a failure.
        """
        for _ in range(_HOPS):
            request = Request(verb, self.url, (*self.sent_headers(), *headers), body, limits)
            reply = await self._exchange(request, label, number, strict=strict)
            target = self._redirect(reply)
            if target is None:
                return reply
            self.url, self._credential = target, None  # a credential is never sent where a redirect leads
        return reply

    async def _exchange(self, request: Request, label: str, number: int, *, strict: bool) -> Reply:
        began = self.now()
        received = Received(strict=strict, redaction=self.redaction)
        answer: rpc.Answer | None = None
        failure: WireFailure | None = None
        try:
            async with self.turn():
                began = self.now()  # waiting for our turn is no time of the server's
                response = await self.visit.open(request)
                try:
                    answer = await received.read(response, number)
                finally:
                    response.close()
        except WireFailure as error:
            failure = error
        exchange = Exchange(
            transport=self._transport.value,
            method=label,
            request=request.body,
            began=began,
            seconds=self.now() - began,
            status=received.status,
            headers=kept_headers(received.headers),
            body=b"".join(received.parts),
            failure=failure,
        )
        self.transcript.add(exchange)
        return Reply(exchange, answer)

    def _redirect(self, reply: Reply) -> Url | None:
        """The target of a redirect that keeps method and origin; any other redirect is the answer itself."""
        location = reply.exchange.header("location")
        if reply.status not in _KEEP_METHOD or not location:
            return None
        try:
            target = self.url.join(location)
        except InvalidTarget:
            return None
        return target if target.origin == self.url.origin else None


class Received:
    """The pieces of one answer, kept also when reading it fails half-way."""

    def __init__(self, *, strict: bool, redaction: Redaction | None = None) -> None:
        self._strict = strict
        self._redaction = redaction or Redaction()
        self._cleaner = self._redaction.stream()
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.parts: list[bytes] = []

    async def read(self, response: Response, number: int) -> rpc.Answer | None:
        """Read until the answer to request `number` is complete; None when the body holds none."""
        self.status, self.headers = response.head.status, self._redaction.clean_headers(response.head.headers)
        if response.head.get("content-type").lower().startswith("text/event-stream"):
            return await self._read_stream(response, number)
        while part := await response.read():
            self.parts.append(self._cleaner.feed(part))
        self.parts.append(self._cleaner.finish())
        body = b"".join(self.parts)
        if not body.strip() or not number:
            return None
        return read_body(body, number, strict=self._strict and self.status == 200)

    async def _read_stream(self, response: Response, number: int) -> rpc.Answer | None:
        reader = EventReader()
        seen = 0
        while part := await response.read():
            self.parts.append(clean := self._cleaner.feed(part))
            for event in reader.feed(clean):
                seen += 1
                if seen > MOST_EVENTS:
                    raise TooLarge(f"more than {MOST_EVENTS} events before the answer")
                if answer := read_event(event.data, number):
                    await _drain(response)
                    return answer
        self.parts.append(rest := self._cleaner.finish())
        events = [*reader.feed(rest), *reader.finish()]
        return next((answer for event in events if (answer := read_event(event.data, number))), None)


class StreamableHttp:
    """The channel of a streamable HTTP server."""

    def __init__(self, post: Post, client_version: str) -> None:
        self._post = post
        self._client_version = client_version
        self._number = 0
        self._version: str | None = None
        self.session: str | None = None

    @property
    def transport(self) -> str:
        """Always `streamable-http`."""
        return TargetType.STREAMABLE_HTTP.value

    def negotiated(self, version: str | None) -> None:
        """Name this version in later requests."""
        self._version = version

    async def ask(self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None) -> Reply:
        """POST a request in the era's form."""
        self._number += 1
        modern = era is Era.MODERN
        sent = modern_params(params, self._client_version) if modern else params
        headers = self._modern_headers(method) if modern else self._legacy_headers(method)
        limits = _shortened(self._post.visit.engine.limits, seconds)
        body = rpc.request(self._number, method, sent)
        reply = await self._post.send("POST", method, body, headers, number=self._number, limits=limits)
        if method == "initialize" and reply.result:
            offered = reply.exchange.header("mcp-session-id")
            self.session = offered if _SESSION.fullmatch(offered) else None
        return reply

    async def tell(self, method: str) -> None:
        """POST a notification."""
        await self._post.send("POST", method, rpc.notification(method), self._legacy_headers(method))

    async def close(self) -> None:
        """DELETE the session, as the specification asks of a client that is done."""
        if self.session:
            await self._post.send("DELETE", "DELETE", b"", self._legacy_headers("DELETE"))
            self.session = None

    def _modern_headers(self, method: str) -> list[tuple[str, str]]:
        return [*_CONTENT, ("mcp-protocol-version", MODERN_VERSION), ("mcp-method", method)]

    def _legacy_headers(self, method: str) -> list[tuple[str, str]]:
        if method == "initialize":
            return list(_CONTENT)
        version = [("mcp-protocol-version", self._version)] if self._version else []
        session = [("mcp-session-id", self.session)] if self.session else []
        return [*_CONTENT, *version, *session]


_CONTENT: Final = (("accept", "application/json, text/event-stream"), ("content-type", "application/json"))


def read_body(body: bytes, number: int, *, strict: bool) -> rpc.Answer | None:
    """The answer in a whole body, whatever its content type says.

    `strict`: a body that is neither JSON nor an event stream is a failure (a 200 must carry an answer); else it is
    an error page that the status explains.
    """
    if body.lstrip()[:6].startswith(_STREAM_MARKS):
        events = [*(reader := EventReader()).feed(body), *reader.finish()]
        return next((answer for event in events if (answer := read_event(event.data, number))), None)
    try:
        return rpc.pick(rpc.read_messages(body), number)
    except (Malformed, TooLarge):
        if strict:
            raise
        return None


def read_event(data: bytes, number: int, *, spent: int = 0) -> rpc.Answer | None:
    """The answer in one event; an event that is not JSON is passed over."""
    try:
        return rpc.pick(rpc.read_messages(data), number, spent=spent)
    except Malformed:
        return None


def wait_asked_for(reply: Reply, now: datetime) -> float | None:
    """Seconds that a 429 or 503 asks to wait; None when it does not say."""
    return retry_after(reply.exchange.header("retry-after"), now) if reply.status in {429, 503} else None


async def _drain(response: Response) -> None:
    """Let the stream end so that the connection can be kept; a stream that goes on is dropped."""
    try:
        async with asyncio.timeout(_STREAM_TAIL):
            while await response.read():
                pass
    except (TimeoutError, TimedOut, WireFailure):
        return


def _shortened(limits: Limits, seconds: float | None) -> Limits | None:
    if seconds is None:
        return None
    return Limits(
        connect=limits.connect,
        first_byte=min(seconds, limits.first_byte),
        between_bytes=limits.between_bytes,
        total=limits.total,
        head_bytes=limits.head_bytes,
        wire_bytes=limits.wire_bytes,
        body_bytes=limits.body_bytes,
    )
