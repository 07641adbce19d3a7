"""How a long task learns that its worker is asked to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from workers.flow import Halt

STOP_POLL_SECONDS = 0.5

Stopping: TypeAlias = Callable[[], bool]


def never() -> bool:
    """A worker that is not asked to stop."""
    return False


async def halt_when(stopping: Stopping, halt: Halt) -> None:
    """Set `halt` when the worker is asked to stop."""
    # Another process raises the flag: no event of this loop can be waited for.
    while not stopping():  # noqa: ASYNC110
        await asyncio.sleep(STOP_POLL_SECONDS)
    halt.set()
