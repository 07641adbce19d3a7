"""How many boxes run at once on a machine: as many as its processors and memory allow, over all processes.

A place is a file lock, so it is shared by all processes on a cache and the kernel frees those of one that dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from crawler.sandbox.kernel import user_ids
from crawler.sandbox.kernel.limits import RUN

_SHARE: Final = 0.75  # of the memory; the rest is for us and for what else runs here
_CGROUP_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class BoxSlots:
    """`places` boxes at a time among all processes that use the folder; those of one process wait in turn."""

    def __init__(self, folder: Path, places: int) -> None:
        self._folder = folder
        self._places = places
        self._turn = asyncio.Semaphore(places)

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A slot that is free again when the context ends; do not wait for a second one while holding it."""
        async with self._turn:
            handle = await self._taken()
            try:
                yield
            finally:
                os.close(handle)

    async def _taken(self) -> int:
        while True:
            for number in range(self._places):
                handle = user_ids.try_lock(self._folder / str(number))
                if handle is not None:
                    return handle
            await asyncio.sleep(user_ids.POLL)


def count_box_slots(slots: int = 0, memory: int = 0) -> int:
    """How many boxes may run at once: `slots`, of which `memory` bytes must bear each at its own limit. At least one.

    0 slots: two for each processor that is ours, since a probed server waits half of the time. 0 bytes: three
    quarters of what this machine or container has.
    """
    wanted = slots or min(2 * _processors(), user_ids.SLOTS)
    bearable = (memory or int(_memory() * _SHARE)) // RUN.memory
    return max(1, min(wanted, bearable))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_limits()])


def _limits() -> Iterator[int]:
    """What control groups leave of the memory, in bytes."""
    for file in _CGROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            yield int(Path(file).read_text("ascii"))
