"""How long one server may take: a bound on work that stands still while the work waits for its turn.

Hundreds of servers may share one host or two sandboxes. Their queueing is ours and must not count against them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass
from typing import Final

from structlog.contextvars import bind_contextvars, get_contextvars


@dataclass(slots=True)
class _Bound:
    """A running bound. A task that outlives it still holds it, since it copied the context, and must leave it alone."""

    timeout: asyncio.Timeout
    over: bool = False


_BOUND: Final[ContextVar[_Bound | None]] = ContextVar("bound", default=None)


@asynccontextmanager
async def limit_duration(seconds: float) -> AsyncIterator[None]:
    """Raise TimeoutError when the block takes longer than `seconds`, its time in `queueing` left out."""
    async with asyncio.timeout(seconds) as timeout:
        bound = _Bound(timeout)
        token = _BOUND.set(bound)
        try:
            yield
        finally:
            bound.over = True
            _BOUND.reset(token)


@contextmanager
def pause_deadline() -> Iterator[None]:
    """Stop the clock of `bounded` while inside; does nothing outside of it."""
    bound = _BOUND.get()
    ends = None if bound is None or bound.over else bound.timeout.when()
    if bound is None or ends is None or bound.timeout.expired():
        yield
        return
    loop = asyncio.get_running_loop()
    left = ends - loop.time()
    bound.timeout.reschedule(None)
    try:
        yield
    finally:
        if not bound.over:
            bound.timeout.reschedule(loop.time() + left)


def isolate_shared_work() -> Context:
    """A context for work that several wait for: bounded by the time of none, and logged with the server of none."""
    context = Context()
    context.run(bind_contextvars, **{name: value for name, value in get_contextvars().items() if name != "server"})
    return context
