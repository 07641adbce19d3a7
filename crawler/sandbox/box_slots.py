"""Limits how many boxes run at once on a machine, over all processes.

A slot is a file lock, so all processes with the same cache share it, and the kernel frees the slots of a dead process.
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

_SHARE: Final = 0.75  # of the memory; the rest is for Hallmark and other programs
_CGROUP_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class BoxSlots:
    """At most `slots` boxes at a time among all processes that use the folder."""

    def __init__(self, folder: Path, slots: int) -> None:
        self._folder = folder
        self._slots = slots
        self._turn = asyncio.Semaphore(slots)

    @contextlib.asynccontextmanager
    async def hold_slot(self) -> AsyncIterator[None]:
        """Hold a slot until the context ends. Do not wait for a second slot while holding one."""
        async with self._turn:
            handle = await self._take_slot()
            try:
                yield
            finally:
                os.close(handle)

    async def _take_slot(self) -> int:
        while True:
            for number in range(self._slots):
                handle = user_ids.try_lock(self._folder / str(number))
                if handle is not None:
                    return handle
            await asyncio.sleep(user_ids.POLL)


def count_box_slots(slots: int = 0, memory: int = 0) -> int:
    """How many boxes may run at once, at least one: `slots`, or fewer if `memory` bytes do not suffice for so many.

    0 slots: two per available processor, since a probed server waits half of the time. 0 bytes: three quarters of the
    memory of this machine or container.
    """
    wanted = slots or min(2 * count_processors(), user_ids.SLOTS)
    affordable = (memory or int(measure_memory() * _SHARE)) // RUN.memory
    return max(1, min(wanted, affordable))


def count_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure_memory() -> int:
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_limits()])


def _limits() -> Iterator[int]:
    """The memory limits of our control groups, in bytes."""
    for file in _CGROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            yield int(Path(file).read_text("ascii"))
