"""How long one server may take: a bound on work that stands still while the work waits for its turn.

Hundreds of servers may share one host or two sandboxes. Their queueing is ours and must not count against them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Final

_BOUND: Final[ContextVar[asyncio.Timeout | None]] = ContextVar("bound", default=None)


@asynccontextmanager
async def bounded(seconds: float) -> AsyncIterator[None]:
    """Raise TimeoutError when the block takes longer than `seconds`, its time in `queueing` left out."""
    async with asyncio.timeout(seconds) as bound:
        token = _BOUND.set(bound)
        try:
            yield
        finally:
            _BOUND.reset(token)


@contextmanager
def queueing() -> Iterator[None]:
    """Stop the clock of `bounded` while inside; does nothing outside of it."""
    bound = _BOUND.get()
    ends = bound.when() if bound is not None else None
    if bound is None or ends is None or bound.expired():
        yield
        return
    loop = asyncio.get_running_loop()
    left = ends - loop.time()
    bound.reschedule(None)
    try:
        yield
    finally:
        bound.reschedule(loop.time() + left)
