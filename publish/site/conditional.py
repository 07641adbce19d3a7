"""Entity tags, conditional requests and content coding of every answer.

The tag of a public page carries the edition that the page is rendered from. So a request that names a current tag is
answered with 304 without rendering, which makes revalidation by browsers and shared caches cheap.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publish.site.editions import Editions
from publish.web.content_encoding import IDENTITY, MIN_BYTES, choose_encoding, encode_body, is_text_type
from publish.web.context import CACHE_PUBLIC, SiteContext

LONGEST: Final = 4 * 1024 * 1024
"""Bytes of the longest body that is buffered for its entity tag and encoding; longer bodies are streamed."""

_UNTAGGED: Final = ("/static/", "/datasets/", "/healthz", "/readyz")
"""Paths whose responses do not depend on the edition."""

_DIGITS: Final = 32
_PUBLIC: Final = "public"
_ALWAYS_EXPIRED: Final = "@1"
"""Tells nginx to cache a response and to revalidate it before every use: it expired in 1970."""


class Conditional:
    """Tags and encodes answers to GET, and answers 304 to clients that have the current edition of a page."""

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._editions = Editions(site)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        tag = ""
        # The answer to a token may show private data of its holder: it gets no tag of the edition.
        if "authorization" not in headers and not scope["path"].startswith(_UNTAGGED):
            # Read before the page is rendered: a page may be newer than its tag, and never older.
            tag = await self._editions.tag(scope)
        if tag and tag in _tags(headers.get("if-none-match", "")):
            await _send_unchanged(scope, send, tag)
        else:
            await self._app(scope, receive, _Answer(scope, send, tag).take)


class _Answer:
    """Buffers a response until it is complete, unless it is a stream."""

    def __init__(self, scope: Scope, send: Send, tag: str) -> None:
        self._scope, self._send, self._tag = scope, send, tag
        self._start: Message | None = None
        self._parts: list[bytes] = []
        self._streams = False

    async def take(self, message: Message) -> None:
        """One message of the answer."""
        if self._streams:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._start = message
            if not _is_held(Headers(raw=message["headers"])):
                await self._stream()
        elif message["type"] == "http.response.body":
            await self._add(message)

    async def _add(self, message: Message) -> None:
        assert self._start is not None
        self._parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            await _send_whole(self._scope, self._send, self._start, b"".join(self._parts), self._tag)
        elif sum(map(len, self._parts)) > LONGEST:
            await self._stream()

    async def _stream(self) -> None:
        assert self._start is not None
        self._streams = True
        await self._send(self._start)
        for part in self._parts:
            await self._send({"type": "http.response.body", "body": part, "more_body": True})


def _is_held(headers: Headers) -> bool:
    length = headers.get("content-length", "0")
    return (
        is_text_type(headers.get("content-type", ""))
        and not {"content-encoding", "content-range", "etag"} & set(headers)
        and (not length.isdecimal() or int(length) <= LONGEST)
    )


async def _send_whole(scope: Scope, send: Send, start: Message, body: bytes, tag: str) -> None:
    headers = MutableHeaders(raw=list(start["headers"]))
    request_headers = Headers(scope=scope)
    coding = choose_encoding(request_headers.get("accept-encoding", "")) if len(body) >= MIN_BYTES else IDENTITY
    headers.add_vary_header("Accept-Encoding")
    status = start["status"]
    if status == 200 and headers.get("cache-control", "").startswith(_PUBLIC):
        tag = tag or sha256(body).hexdigest()[:_DIGITS]
        headers["etag"] = _etag(tag, coding)
        if headers["cache-control"] == CACHE_PUBLIC:
            headers["x-accel-expires"] = _ALWAYS_EXPIRED
        if {tag, "*"} & _tags(request_headers.get("if-none-match", "")):
            status = 304
    if status == 304:
        body = b""
        del headers["content-length"]
        del headers["content-type"]
    else:
        body = encode_body(body, coding)
        if coding != IDENTITY:
            headers["content-encoding"] = coding
        headers["content-length"] = str(len(body))
    await send({"type": "http.response.start", "status": status, "headers": headers.raw})
    await send({"type": "http.response.body", "body": body})


async def _send_unchanged(scope: Scope, send: Send, tag: str) -> None:
    """Send 304: the client has the page in the encoding of its entity tag."""
    named = Headers(scope=scope).get("if-none-match", "")
    known = next(text.strip() for text in named.split(",") if tag in _tags(text))
    headers = MutableHeaders(
        {
            "cache-control": CACHE_PUBLIC,
            "etag": known.removeprefix("W/"),
            "vary": "Accept-Encoding",
            "x-accel-expires": _ALWAYS_EXPIRED,
        }
    )
    await send({"type": "http.response.start", "status": 304, "headers": headers.raw})
    await send({"type": "http.response.body", "body": b""})


def _etag(tag: str, coding: str) -> str:
    """A strong entity tag, different for each content encoding."""
    return f'"{tag}"' if coding == IDENTITY else f'"{tag}-{coding}"'


def _tags(text: str) -> frozenset[str]:
    """The tags of an If-None-Match header without their encodings: any encoding has the same content."""
    return frozenset(one.strip().removeprefix("W/").strip('"').partition("-")[0] for one in text.split(","))
