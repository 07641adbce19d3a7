"""Answers from memory: entity tags, content coding, and copies of everything that is the same for everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final
from weakref import WeakValueDictionary

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publish.site.encoding import IDENTITY, chosen, is_text
from publish.site.rates import FREE
from publish.site.revisions import UNKNOWN, Revisions
from publish.site.shelf import Copy, Shelf
from publish.site.site import Site

LONGEST: Final = 4 * 1024 * 1024
"""Bytes of the longest body that is held back; a longer one streams through as it is."""

_PUBLIC: Final = "public"
_PASSING: Final = frozenset({"HEAD", "OPTIONS"})
"""Nothing is written by them, and nothing of them is kept."""


class Kept:
    """Serves copies, and makes them of public answers. Requests for one address wait for the first of them."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._revisions = Revisions(site)
        self._shelf = Shelf(site.desk.limits.cache)
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] in _PASSING:
            await self._app(scope, receive, send)
            return
        # Whatever answers, lists in memory and pages made ahead are those of a revision that was just asked for.
        revision = await self._revisions.current()
        if scope["method"] != "GET":
            try:
                await self._app(scope, receive, send)
            finally:
                self._revisions.forget()
        elif "authorization" in Headers(scope=scope):
            # What a token shows is for its holder: it is tagged and encoded, and neither kept nor taken from here.
            await self._app(scope, receive, _Making(scope, send, asyncio.Lock()).take)
        else:
            await self._get(scope, receive, send, revision)

    async def _get(self, scope: Scope, receive: Receive, send: Send, revision: str) -> None:
        address = (scope.get("raw_path") or scope["path"].encode()) + b"?" + scope["query_string"]
        self._shelf.turn_to(revision)
        copy = self._shelf.find(address)
        if copy is not None:
            await _send(copy, scope, send)
            return
        lock = self._locks.setdefault(address, asyncio.Lock())

        # No rate limits these, and their queries mean nothing: whoever makes them up would push all else off the shelf.
        is_endless = bool(scope["query_string"]) and scope["path"].startswith(FREE)

        def keep(copy: Copy) -> None:
            if revision != UNKNOWN and not is_endless:
                self._shelf.put(address, copy, revision)

        making = _Making(scope, send, lock, keep)
        await making.hold()
        try:
            copy = self._shelf.find(address)
            if copy is None:
                await self._app(scope, receive, making.take)
        finally:
            making.release()
        if copy is not None:
            await _send(copy, scope, send)


class _Making:
    """Holds an answer back until it is whole, unless it is one that must flow."""

    def __init__(
        self, scope: Scope, send: Send, lock: asyncio.Lock, keep: Callable[[Copy], None] | None = None
    ) -> None:
        self._scope, self._send, self._lock, self._keep = scope, send, lock, keep
        self._start: Message | None = None
        self._parts: list[bytes] = []
        self._flows = False
        self._holds = False

    async def hold(self) -> None:
        """Wait for those who asked for the same address before."""
        await self._lock.acquire()
        self._holds = True

    def release(self) -> None:
        """Let others ask for the same address."""
        if self._holds:
            self._holds = False
            self._lock.release()

    async def take(self, message: Message) -> None:
        """One message of the answer."""
        if self._flows:
            await self._send(message)
        elif message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] == "http.response.body":
            await self._go_on(message)

    async def _begin(self, message: Message) -> None:
        headers = Headers(raw=message["headers"])
        length = headers.get("content-length", "0")
        held = (
            is_text(headers.get("content-type", ""))
            and not {"content-encoding", "content-range", "etag"} & set(headers)
            and (not length.isdecimal() or int(length) <= LONGEST)
        )
        self._start = message
        if not _is_public(message, headers):
            self.release()
        if not held:
            await self._flow()

    async def _go_on(self, message: Message) -> None:
        assert self._start is not None
        self._parts.append(message.get("body", b""))
        if message.get("more_body", False):
            if sum(map(len, self._parts)) > LONGEST:
                await self._flow()
            return
        kept = _is_public(self._start, Headers(raw=self._start["headers"]))
        copy = Copy(list(self._start["headers"]), b"".join(self._parts), kept, self._scope.get("route"))
        if kept and self._keep:
            self._keep(copy)
        self.release()  # before it is sent: whoever does not read holds nobody else up
        await _send(copy, self._scope, self._send, status=self._start["status"])

    async def _flow(self) -> None:
        """Send what there is, and let the rest through."""
        assert self._start is not None
        self._flows = True
        self.release()
        await self._send(self._start)
        for part in self._parts:
            await self._send({"type": "http.response.body", "body": part, "more_body": True})


def _is_public(start: Message, headers: Headers) -> bool:
    return start["status"] == 200 and headers.get("cache-control", "").startswith(_PUBLIC)


async def _send(copy: Copy, scope: Scope, send: Send, status: int = 200) -> None:
    scope.setdefault("route", copy.route)
    asked = Headers(scope=scope)
    coding = copy.coding(chosen(asked.get("accept-encoding", "")))
    start: Message = {"type": "http.response.start", "status": status, "headers": list(copy.headers)}
    headers = MutableHeaders(raw=start["headers"])
    headers.add_vary_header("Accept-Encoding")
    body = b""
    if status == 200 and copy.kept:
        headers["etag"] = copy.etag(coding)
    if status == 200 and copy.kept and _is_known(copy, asked.get("if-none-match", "")):
        start["status"] = 304
        del headers["content-length"]
        del headers["content-type"]
    else:
        body = copy.body_in(coding)
        if coding != IDENTITY:
            headers["content-encoding"] = coding
        headers["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _is_known(copy: Copy, tags: str) -> bool:
    """Whether the client has this content, in whichever coding."""
    known = {tag.strip().removeprefix("W/").strip('"').partition("-")[0] for tag in tags.split(",")}
    return copy.tag in known or "*" in known
