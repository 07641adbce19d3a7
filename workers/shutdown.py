"""Tells a long task that it has to end: its worker was asked to stop, or its soft time limit has passed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TypeAlias

from workers.concurrency import Halt

STOP_POLL_SECONDS = 0.5

IsStopping: TypeAlias = Callable[[], bool]


def never_stops() -> bool:
    return False


async def _halt_when(stopping: IsStopping, halt: Halt) -> None:
    # Another process raises the flag, so it has to be polled.
    while not stopping():  # noqa: ASYNC110
        await asyncio.sleep(STOP_POLL_SECONDS)
    halt.set()


@asynccontextmanager
async def open_halt(stopping: IsStopping, within: timedelta | None = None) -> AsyncIterator[Halt]:
    """Yield an event that is set when the worker is asked to stop, or after the time `within`."""
    halt = Halt()
    watching = asyncio.create_task(_halt_when(stopping, halt))
    ending = None if within is None else asyncio.get_running_loop().call_later(within.total_seconds(), halt.set)
    try:
        yield halt
    finally:
        watching.cancel()
        if ending is not None:
            ending.cancel()


@contextmanager
def watch_soft_limit() -> Iterator[IsStopping]:
    """Yield a function that says whether the task's soft time limit has passed; needs a running event loop.

    Celery's own handler would raise at any point of the loop, also inside the callback of another server.
    """
    over = Halt()
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGUSR1)
    try:
        loop.add_signal_handler(signal.SIGUSR1, over.set)
    except (ValueError, RuntimeError, NotImplementedError):
        yield never_stops  # not in the main thread, where there is no soft limit
        return
    try:
        yield over.is_set
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, before)
