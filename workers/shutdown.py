"""How a long task learns that it has to end: its worker is asked to stop, or its soft time limit has come."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from workers.concurrency import Halt

STOP_POLL_SECONDS = 0.5

IsStopping: TypeAlias = Callable[[], bool]


def never_stops() -> bool:
    return False


async def halt_when(stopping: IsStopping, halt: Halt) -> None:
    """Set `halt` when the worker is asked to stop."""
    # Another process raises the flag: no event of this loop can be waited for.
    while not stopping():  # noqa: ASYNC110
        await asyncio.sleep(STOP_POLL_SECONDS)
    halt.set()


@contextmanager
def watch_soft_limit() -> Iterator[IsStopping]:
    """Inside of an event loop, answers whether the task's soft time limit has come.

    Celery's own handler raises wherever the loop happens to be, in another server's callback or in the loop itself.
    """
    over = Halt()
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGUSR1)
    try:
        loop.add_signal_handler(signal.SIGUSR1, over.set)
    except (ValueError, RuntimeError, NotImplementedError):
        yield never_stops  # not in the main thread, where no limit of this kind comes either
        return
    try:
        yield over.is_set
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, before)
