"""MCP over streamable HTTP (2025-03-26 and later), legacy and modern, answered as JSON or as an event stream."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Final

from crawler.http.connection import Limits
from crawler.http.credentials import Credential
from crawler.http.engine import HttpSession, Request
from crawler.http.failures import InvalidTarget, WireFailure
from crawler.http.rate_limiting import HostRateLimiter, parse_retry_after
from crawler.http.redaction import Redaction
from crawler.http.url import Url
from crawler.mcp import jsonrpc
from crawler.mcp.channel import MODERN_VERSION, Era, modern_params
from crawler.mcp.mirrored_headers import HeaderMirror
from crawler.mcp.response_reader import STREAM_TAIL, ReceivedResponse, is_utf8, select_recorded_headers
from crawler.mcp.transcript import Exchange, Reply, Transcript, select_kept_headers
from evidence.canonical import Json
from evidence.model import TargetType

_HOPS: Final = 3
_KEEP_METHOD: Final = frozenset({307, 308})
_SESSION: Final = re.compile(r"[\x21-\x7e]{1,1024}")
_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_OURS: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "mcp-method"}
    | {"mcp-protocol-version", "mcp-session-id", "te", "transfer-encoding", "upgrade", "user-agent"}
)


class JsonRpcPost:
    """POSTs JSON-RPC messages to one URL and reads the answers; shared by both HTTP transports."""

    def __init__(
        self,
        visit: HttpSession,
        url: Url,
        courtesy: HostRateLimiter,
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
        self.tail = STREAM_TAIL
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
        hear: float | None = None,
    ) -> Reply:
        """One request with same-origin 307/308 redirects followed; the last answer counts, all are recorded.

        `number` 0 expects no answer. `strict`: a 200 whose body is neither JSON nor an event stream is a failure.
        `hear`: of an event stream only the first message is read, for at most so many seconds; 0 reads nothing.
        """
        for _ in range(_HOPS):
            request = Request(verb, self.url, (*self.sent_headers(), *headers), body, limits)
            reply = await self._exchange(request, label, number, strict=strict, hear=hear)
            target = self._redirect(reply)
            if target is None:
                return reply
            self.url, self._credential = target, None  # a credential is never sent where a redirect leads
        return reply

    async def _exchange(self, request: Request, label: str, number: int, *, strict: bool, hear: float | None) -> Reply:
        began = self.now()
        received = ReceivedResponse(strict=strict, redaction=self.redaction, tail=self.tail, hear=hear)
        answer: jsonrpc.RpcAnswer | None = None
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
        if received.ended is False:
            self.tail = STREAM_TAIL  # once is enough to know
        exchange = Exchange(
            transport=self._transport.value,
            method=label,
            request=request.body,
            began=began,
            seconds=(received.answered or self._loop.time()) - self._born - began,
            verb=request.method,
            sent=select_recorded_headers(request.headers),
            status=received.status,
            headers=select_kept_headers(received.headers),
            body=received.body,
            form=received.form,
            utf8=is_utf8(received.body),
            batch=received.batch,
            ended=received.ended,
            received=tuple(received.pieces),
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


class StreamableHttp:
    """The channel of a streamable HTTP server."""

    def __init__(self, post: JsonRpcPost, client_version: str) -> None:
        self._post = post
        self._client_version = client_version
        self._number = 0
        self._version: str | None = None
        self.session: str | None = None
        self.assigned: str | None = None
        self.mirror: HeaderMirror | None = None

    @property
    def post(self) -> JsonRpcPost:
        """What it POSTs with."""
        return self._post

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
        headers = modern_headers(method, params) if modern else self.legacy_headers(method)
        if modern and self.mirror and method == "tools/call":
            headers += [(name, encode_header_text(value)) for name, value in self.mirror(params)]
        limits = shorten_limits(self._post.visit.engine.limits, seconds)
        body = jsonrpc.encode_request(self._number, method, sent)
        reply = await self._post.send("POST", method, body, headers, number=self._number, limits=limits)
        if method == "initialize" and reply.result:
            self.assigned = reply.exchange.header("mcp-session-id") or None
            self.session = self.assigned if self.assigned and is_valid_session_id(self.assigned) else None
        return reply

    def number(self) -> int:
        """The id of the next request, for one that is put together elsewhere."""
        self._number += 1
        return self._number

    async def tell(self, method: str) -> None:
        """POST a notification."""
        await self._post.send("POST", method, jsonrpc.encode_notification(method), self.legacy_headers(method))

    async def close(self) -> None:
        """DELETE the session, as the specification asks of a client that is done."""
        if self.session:
            await self._post.send("DELETE", "DELETE", b"", self.legacy_headers("DELETE"))
            self.session = None

    def legacy_headers(self, method: str) -> list[tuple[str, str]]:
        """The headers of a request on this connection."""
        if method == "initialize":
            return list(CONTENT)
        version = [("mcp-protocol-version", self._version)] if self._version else []
        session = [("mcp-session-id", self.session)] if self.session else []
        return [*CONTENT, *version, *session]


CONTENT: Final = (("accept", "application/json, text/event-stream"), ("content-type", "application/json"))
"""What goes with every POST."""


def modern_headers(method: str, params: Mapping[str, Json], *, version: str = MODERN_VERSION) -> list[tuple[str, str]]:
    """The headers of a modern request, which repeat what its body says (2026-07-28, Standard Request Headers)."""
    headers = [*CONTENT, ("mcp-protocol-version", version), ("mcp-method", method)]
    name = params.get(_NAMED[method]) if method in _NAMED else None
    return [*headers, ("mcp-name", encode_header_text(name))] if isinstance(name, str) else headers


def encode_header_text(text: str) -> str:
    """A text as a header's value: in Base64 when it could not be sent as it is (2026-07-28, Value Encoding)."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return encode_base64_text(text)


def encode_base64_text(text: str) -> str:
    """A text in the Base64 form of header values."""
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def is_valid_session_id(text: str) -> bool:
    """True for a session id that is sent back: visible ASCII characters of bounded length."""
    return _SESSION.fullmatch(text) is not None


def read_requested_wait(reply: Reply, now: datetime) -> float | None:
    """Seconds that a 429 or 503 asks to wait; None when it does not say."""
    return parse_retry_after(reply.exchange.header("retry-after"), now) if reply.status in {429, 503} else None


def shorten_limits(limits: Limits, seconds: float | None) -> Limits | None:
    """The limits with at most `seconds` until the first byte."""
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
