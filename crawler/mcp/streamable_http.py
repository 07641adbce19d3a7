"""MCP over streamable HTTP (2025-03-26 and later), in both eras; responses are JSON or event streams."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from crawler.http.connection import TIME_OVER, Limits
from crawler.http.credentials import Credential
from crawler.http.engine import HttpSession, Request
from crawler.http.failures import BudgetSpent, InvalidTarget, WireFailure
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

_KEPT_SESSIONS: Final = frozenset({"2024-11-05", "2025-03-26"})
"""Versions whose sessions are not deleted, unless their id shows that the server is not on the Python SDK."""

_HYPHENATED_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The form of the session ids of the TypeScript SDK. Those of the Python SDK have no hyphens."""

_MAX_REDIRECTS: Final = 3
_STRAY_SECONDS: Final = 2.0  # seconds for the end of a stray session
_SHARE: Final = 0.5  # of the time of a session, for one request
_METHOD_PRESERVING_REDIRECTS: Final = frozenset({307, 308})
_SESSION: Final = re.compile(r"[\x21-\x7e]{1,1024}")
_HEADER_SAFE: Final = re.compile(r"[\x20-\x7e]*")
_NAME_PARAMETERS: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_OWN_HEADERS: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "mcp-method"}
    | {"mcp-protocol-version", "mcp-session-id", "te", "transfer-encoding", "upgrade", "user-agent"}
)


class JsonRpcPost:
    """POSTs JSON-RPC messages to one URL and reads the responses; both HTTP transports use it.

    `gapless`: do not limit the rate, for the operator's own targets.
    """

    def __init__(
        self,
        http_session: HttpSession,
        url: Url,
        rate_limiter: HostRateLimiter,
        transcript: Transcript,
        *,
        headers: Sequence[tuple[str, str]] = (),
        transport: TargetType = TargetType.STREAMABLE_HTTP,
        gapless: bool = False,
        credential: Credential | None = None,
    ) -> None:
        self.http_session = http_session
        self.url = url
        self.rate_limiter = rate_limiter
        self.transcript = transcript
        self.limits = _limit_share(http_session)
        self._transport = transport.value
        self.tail = STREAM_TAIL
        self.gapless = gapless
        self.headers = tuple(pair for pair in headers if pair[0].lower() not in _OWN_HEADERS)
        self.redaction = credential.redaction if credential else Redaction()
        self._credential = credential
        self._loop = asyncio.get_running_loop()
        self._born = self._loop.time()

    def host_slot(self) -> AbstractAsyncContextManager[None]:
        """Wait until the rate limit allows a request to the host, unless `gapless`.

        Raise BudgetSpent if it allows none in the time that is left.
        """
        if self.gapless:
            return nullcontext()
        host = self.url.origin.host
        if self.rate_limiter.remaining_delay(host) >= self.http_session.seconds_left:
            raise BudgetSpent(TIME_OVER)
        return self.rate_limiter.request_slot(host)

    def sent_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers for a request to the current URL: the declared ones, and the credential for this URL."""
        if self._credential is None:
            return self.headers
        secret = self._credential.headers_for(self.url)
        names = {name for name, _ in secret}
        return (*(pair for pair in self.headers if pair[0].lower() not in names), *secret)

    def now(self) -> float:
        """Seconds since the probe began."""
        return self.at(self._loop.time())

    def at(self, time: float) -> float:
        """A time of the event loop as seconds since the probe began."""
        return time - self._born

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
        """Send a request and follow redirects (307, 308, same origin); records all exchanges and returns the last.

        `number` 0: expect no response. `strict`: a 200 whose body is neither JSON nor an event stream is a failure.
        `hear`: of an event stream, read only the first message, for at most this many seconds; 0 reads nothing.
        """
        for _ in range(_MAX_REDIRECTS):
            request = Request(verb, self.url, (*self.sent_headers(), *headers), body, limits or self.limits)
            reply = await self._exchange(request, label, number, strict=strict, hear=hear)
            if not self.follow_redirect(reply):
                return reply
        return reply

    def follow_redirect(self, reply: Reply) -> bool:
        """Continue at the target of a redirect that keeps method and origin; False for any other reply."""
        target = self._redirect(reply)
        if target is None:
            return False
        self.url, self._credential = target, None  # a credential is never sent to the target of a redirect
        return True

    async def _exchange(self, request: Request, label: str, number: int, *, strict: bool, hear: float | None) -> Reply:
        began = self._loop.time()
        received = ReceivedResponse(strict=strict, redaction=self.redaction, tail=self.tail, hear=hear)
        answer: jsonrpc.RpcAnswer | None = None
        failure: WireFailure | None = None
        try:
            async with self.host_slot():
                began = self._loop.time()  # the wait for the rate limit is not the server's time
                response = await self.http_session.open(request)
                try:
                    answer = await received.read(response, number)
                finally:
                    response.close()
        except WireFailure as error:
            failure = error
        body = received.body
        ended = received.answered if received.answered is not None and failure is None else self._loop.time()
        if received.ended is False:
            self.tail = STREAM_TAIL  # one observation is enough
        exchange = Exchange(
            transport=self._transport,
            method=label,
            request=request.body,
            began=self.at(began),
            seconds=ended - began,
            verb=request.method,
            sent=select_recorded_headers(request.headers),
            status=received.status,
            headers=select_kept_headers(received.headers),
            body=body,
            form=received.form,
            utf8=is_utf8(body),
            batch=received.batch,
            ended=received.ended,
            received=tuple(received.pieces),
            failure=failure,
        )
        self.transcript.add(exchange)
        return Reply(exchange, answer)

    def _redirect(self, reply: Reply) -> Url | None:
        """The target of a redirect that keeps method and origin; None for other redirects, which are not followed."""
        if reply.status not in _METHOD_PRESERVING_REDIRECTS or not (location := reply.exchange.header("location")):
            return None
        try:
            target = self.url.join(location)
        except InvalidTarget:
            return None
        return target if target.origin == self.url.origin else None


class StreamableHttp:
    """The channel of a streamable HTTP server."""

    transport: Final = TargetType.STREAMABLE_HTTP.value

    def __init__(self, post: JsonRpcPost, client_version: str) -> None:
        self.post = post
        self._client_version = client_version
        self._number = 0
        self._version: str | None = None
        self.session: str | None = None
        self.assigned: str | None = None
        self.mirror: HeaderMirror | None = None

    def set_protocol_version(self, version: str | None) -> None:
        self._version = version

    async def send_request(
        self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None
    ) -> Reply:
        """POST a request in the form of the era."""
        self._number += 1
        modern = era is Era.MODERN
        sent = modern_params(params, self._client_version) if modern else params
        headers = modern_headers(method, params) if modern else self.legacy_headers(method)
        if modern and self.mirror and method == "tools/call":
            headers += [(name, encode_header_text(value)) for name, value in self.mirror(params)]
        limits = shorten_limits(self.post.limits, seconds)
        body = jsonrpc.encode_request(self._number, method, sent)
        reply = await self.post.send("POST", method, body, headers, number=self._number, limits=limits)
        if method == "initialize" and reply.result:
            self.assigned = reply.exchange.header("mcp-session-id") or None
            self.session = self.assigned if self.assigned and is_valid_session_id(self.assigned) else None
        return reply

    def next_id(self) -> int:
        self._number += 1
        return self._number

    async def send_notification(self, method: str) -> None:
        await self.post.send("POST", method, jsonrpc.encode_notification(method), self.legacy_headers(method))

    @property
    def may_end_session(self) -> bool:
        """Whether there is a session that a DELETE ends without taking the server down."""
        return self.session is not None and not is_session_kept(self._version, self.session)

    async def close(self, *, seconds: float | None = None) -> None:
        """DELETE the session within `seconds`, as the specification recommends, where that is harmless."""
        if self.may_end_session:
            limits = shorten_limits(self.post.http_session.engine.limits, seconds)
            await self.post.send("DELETE", "DELETE", b"", self.legacy_headers("DELETE"), limits=limits)
            self.session = None

    async def end_stray_session(self, reply: Reply) -> None:
        """End a session that the server opened for a request without one, which it then refused.

        Python SDK 1.10 to 1.29 keeps such a session for ever; its id is in the refusal.
        """
        stray = reply.exchange.header("mcp-session-id")
        is_refused = reply.status is not None and reply.status >= 400
        if is_refused and stray != self.session and is_valid_session_id(stray) and self._version not in _KEPT_SESSIONS:
            headers = [pair for pair in self.legacy_headers("DELETE") if pair[0] != "mcp-session-id"]
            limits = shorten_limits(self.post.http_session.engine.limits, _STRAY_SECONDS)
            await self.post.send("DELETE", "DELETE", b"", [*headers, ("mcp-session-id", stray)], limits=limits)

    def legacy_headers(self, method: str) -> list[tuple[str, str]]:
        """The headers of a legacy request on this connection."""
        if method == "initialize":
            return list(CONTENT)
        version = [("mcp-protocol-version", self._version)] if self._version else []
        session = [("mcp-session-id", self.session)] if self.session else []
        return [*CONTENT, *version, *session]


CONTENT: Final = (("accept", "application/json, text/event-stream"), ("content-type", "application/json"))
"""Headers of every POST."""


def modern_headers(method: str, params: Mapping[str, Json], *, version: str = MODERN_VERSION) -> list[tuple[str, str]]:
    """The headers of a modern request, which repeat parts of its body (2026-07-28, Standard Request Headers)."""
    headers = [*CONTENT, ("mcp-protocol-version", version), ("mcp-method", method)]
    name = params.get(_NAME_PARAMETERS[method]) if method in _NAME_PARAMETERS else None
    return [*headers, ("mcp-name", encode_header_text(name))] if isinstance(name, str) else headers


def encode_header_text(text: str) -> str:
    """A text as a header value, in Base64 if it cannot be sent unchanged (2026-07-28, Value Encoding)."""
    if _HEADER_SAFE.fullmatch(text) and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return encode_base64_text(text)


def encode_base64_text(text: str) -> str:
    """A text in the Base64 form of header values."""
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def is_session_kept(version: str | None, session: str) -> bool:
    """Whether a session is not ended, because its server may be on Python SDK 1.8 or 1.9.

    These negotiate older versions than all others over this transport, and refuse every client after a DELETE: always
    on a newer anyio, at random on an older one (docs/version-matrix.md).
    """
    return version in _KEPT_SESSIONS and not _HYPHENATED_UUID.fullmatch(session)


def is_valid_session_id(text: str) -> bool:
    """True for 1 to 1024 visible ASCII characters; only such a session id is sent back."""
    return _SESSION.fullmatch(text) is not None


def read_requested_wait(reply: Reply, now: datetime) -> float | None:
    """The Retry-After of a 429 or 503 in seconds; None without one."""
    return parse_retry_after(reply.exchange.header("retry-after"), now) if reply.status in {429, 503} else None


@lru_cache(maxsize=64)
def shorten_limits(limits: Limits, seconds: float | None) -> Limits | None:
    """The limits with at most `seconds` for the response; None without `seconds`."""
    if seconds is None:
        return None
    return replace(limits, first_byte=min(seconds, limits.first_byte), total=min(seconds, limits.total))


def _limit_share(session: HttpSession) -> Limits:
    """The limits of one request, which may take a part of the session's time only: a slow answer is not the last."""
    limits = session.engine.limits
    return limits if session.seconds is None else replace(limits, total=min(limits.total, session.seconds * _SHARE))
