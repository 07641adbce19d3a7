"""Bounds the time until an answer begins."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publish.web.context import SiteContext
from publish.web.error_handlers import RETRY_SECONDS
from publish.web.errors import failure_response


class TimeLimit:
    """Answers 503 to a request whose answer has not begun in time.

    PostgreSQL bounds its own statements, which it cannot do while it stands still. The thread that waits for it cannot
    be stopped: it keeps its place, and its answer is dropped.
    """

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._site = site
        self._left_behind: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._site.backend.limits.answer_seconds
        if scope["type"] != "http" or not limit:
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        making = asyncio.create_task(_make(self._app, scope, receive, answer.send))
        await asyncio.wait({making}, timeout=limit)
        if making.done() or answer.has_begun:
            await making
            return
        answer.is_dropped = True
        self._left_behind.add(making)
        making.add_done_callback(self._forget)
        late = failure_response(self._site, scope["path"], 503, headers={"retry-after": str(RETRY_SECONDS)})
        await late(scope, receive, send)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._left_behind.discard(task)
        if not task.cancelled():
            task.exception()  # its visitor has had another answer


async def _make(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


class _Answer:
    """Passes an answer on, unless it is dropped before it begins."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = self.is_dropped = False

    async def send(self, message: Message) -> None:
        if not self.is_dropped:
            self.has_begun = True
            await self._send(message)
