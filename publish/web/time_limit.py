"""Bounds the time until an answer begins."""

from __future__ import annotations

import asyncio
from math import inf

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publish.web.context import SiteContext
from publish.web.error_handlers import RETRY_SECONDS
from publish.web.errors import failure_response


class TimeLimit:
    """Answers 503 to a request whose answer has not begun in time. Waiting for the visitor's own words does not count.

    PostgreSQL bounds its own statements, which it cannot do while it stands still. The thread that waits for it cannot
    be stopped: it keeps its place, and its answer is dropped.
    """

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._site = site
        self._left_behind: set[asyncio.Future[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._site.backend.limits.answer_seconds
        if scope["type"] != "http" or not limit:
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(receive, send)
        making = asyncio.ensure_future(self._app(scope, exchange.receive, exchange.send))
        try:
            while not making.done() and not exchange.has_begun and (left := exchange.measure_left(limit)) > 0:
                await asyncio.wait({making}, timeout=left)
            if making.done() or exchange.has_begun:
                await making
                return
        except asyncio.CancelledError:
            making.cancel()
            raise
        exchange.is_dropped = True
        self._left_behind.add(making)
        making.add_done_callback(self._left_behind.discard)  # asyncio logs what it raises
        late = failure_response(self._site, scope["path"], 503, headers={"retry-after": str(RETRY_SECONDS)})
        await late(scope, receive, send)


class _Exchange:
    """Passes a request and its answer on, unless the answer is dropped before it begins."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._clock = asyncio.get_running_loop().time
        self._since = self._clock()
        self.has_begun = self.is_dropped = False

    def measure_left(self, limit: float) -> float:
        """Seconds until an answer is late: from the last words of the visitor on, who has a limit of his own."""
        return min(limit, self._since + limit - self._clock())

    async def receive(self) -> Message:
        self._since = inf
        try:
            return await self._receive()
        finally:
            self._since = self._clock()

    async def send(self, message: Message) -> None:
        if not self.is_dropped:
            self.has_begun = True
            await self._send(message)
