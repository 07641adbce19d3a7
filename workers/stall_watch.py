"""Notices that this process stood still, so that what was in flight does not become a failure of a server.

A process that was stopped, starved or suspended finds its deadlines passed and its connections closed when it goes on.
What it observes then says nothing about a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Final, Self

from workers.clock import Clock
from workers.log import get_log

STALL_SECONDS: Final = 3.0
"""A loop that was not scheduled for longer stood still: a third of the shortest default time limit of a connection."""

MAX_VISITS: Final = 4
"""How often a server is visited when this process stands still during every visit; the last visits take turns."""

MAX_POSTPONEMENTS: Final = 2
"""How often such a server of a fleet is given back before its absence is recorded as our failure."""

STOOD_STILL: Final = f"this machine stood still during {MAX_VISITS} visits in a row"

_TICK_SECONDS: Final = 0.5
_SETTLE_SECONDS: Final = 1.0  # work that several servers share, and whose deadlines have passed, fails first


class StoodStill(Exception):
    """This process stood still during a visit: its result is worthless."""


async def recover_nothing() -> None:
    """Nothing is held that others may have taken over."""


class StallWatch:
    """Compares the clocks of a loop twice a second: `async with StallWatch(clock) as watch, watch.visit(): ...`.

    The clock since boot counts the time in which the machine is suspended. The wall clock shows that the other clocks
    of a virtual machine were stopped. After every stall `recover` is called once.
    """

    def __init__(self, clock: Clock, recover: Callable[[], Awaitable[None]] = recover_nothing) -> None:
        self._clock = clock
        self._recover = recover
        self._visits: set[asyncio.Timeout] = set()
        self._turn = asyncio.Lock()
        self._stalls = 0
        self._seen = self._read_clocks()
        self._recovery: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._seen = self._read_clocks()
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (self._ticking, self._recovery):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    @asynccontextmanager
    async def visit(self, *, in_turn: bool = False) -> AsyncIterator[None]:
        """Cancel the block when this process stood still during it, and raise StoodStill.

        Blocks that are run `in_turn` wait for each other, so that a server which blocks the loop stalls none of them.
        """
        async with self._turn if in_turn else nullcontext():
            if in_turn:
                await self.recovered()
            self._check()
            before = self._stalls
            async with self._cancelled_by_stall():
                yield
            # The block may have ended, with deadlines that passed meanwhile, before the watch was scheduled again.
            self._check()
            if self._stalls > before:
                raise StoodStill

    async def recovered(self) -> None:
        """Wait until everything that the last stall broke has failed, and `recover` was called."""
        if self._recovery is not None:
            await asyncio.shield(self._recovery)

    @asynccontextmanager
    async def _cancelled_by_stall(self) -> AsyncIterator[None]:
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._visits.add(limit)
                yield
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            self._visits.discard(limit)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._check()

    def _check(self) -> None:
        now = self._read_clocks()
        gone = max(here - before for here, before in zip(now, self._seen, strict=True))
        self._seen = now
        if gone <= STALL_SECONDS:
            return
        self._stalls += 1
        get_log().warning("process_stood_still", seconds=round(gone, 1), visits=len(self._visits))
        for limit in self._visits:
            if not limit.expired():
                limit.reschedule(0)
        self._recovery = asyncio.create_task(self._settle(self._recovery))

    async def _settle(self, earlier: asyncio.Task[None] | None) -> None:
        if earlier is not None:
            await earlier
        await asyncio.sleep(_SETTLE_SECONDS)
        await self._recover()

    def _read_clocks(self) -> tuple[float, float]:
        return self._clock.since_boot(), self._clock.wall().timestamp()
