"""A time limit for the work on one server, which is paused while the work waits in a queue of ours.

Hundreds of servers may share one host or two sandboxes. The time in our queues must not count against a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from typing import Final

from msgspec import Struct


class TimeLimit(Struct):
    """A running time limit. A task that outlives it has a copy in its context and must not change it: see `over`."""

    timeout: asyncio.Timeout
    over: bool = False
    paused: float = 0.0  # seconds


_LIMIT: Final[ContextVar[TimeLimit | None]] = ContextVar("time_limit", default=None)


@asynccontextmanager
async def limit_duration(seconds: float) -> AsyncIterator[TimeLimit]:
    """Raise TimeoutError if the block takes longer than `seconds`, not counting time inside `pause_deadline`."""
    async with asyncio.timeout(seconds) as timeout:
        limit = TimeLimit(timeout)
        token = _LIMIT.set(limit)
        try:
            yield limit
        finally:
            limit.over = True
            _LIMIT.reset(token)


@contextmanager
def pause_deadline() -> Iterator[None]:
    """Pause the time limit of the enclosing `limit_duration`; without one, do nothing."""
    limit = _LIMIT.get()
    end = None if limit is None or limit.over else limit.timeout.when()
    if limit is None or end is None or limit.timeout.expired():
        yield
        return
    loop = asyncio.get_running_loop()
    began = loop.time()
    limit.timeout.reschedule(None)
    try:
        yield
    finally:
        if not limit.over:
            now = loop.time()
            limit.paused += now - began
            limit.timeout.reschedule(end + now - began)


def isolate_shared_work() -> Context:
    """A context for work that several servers wait for: without a time limit, and logged without a server."""
    from structlog.contextvars import bind_contextvars, get_contextvars  # noqa: PLC0415  see crawler/event_log.py

    context = Context()
    context.run(bind_contextvars, **{name: value for name, value in get_contextvars().items() if name != "server"})
    return context
