"""Bounded concurrency: pull work, do many pieces at the same time, write results in groups, stop when asked."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Generic, TypeAlias, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")

Halt: TypeAlias = asyncio.Event

# A group is written when it is full, or this long after its first result: a kill loses no more than that.
_LINGER_SECONDS = 0.5


def without_place(_: object) -> None:
    """Pieces that never have to wait for one another."""


def select_first_of_each_place(pieces: Sequence[Work], place: Callable[[Work], str | None]) -> list[Work]:
    """The pieces that need not wait for another one of the same sequence."""
    taken: set[str] = set()
    free: list[Work] = []
    for piece in pieces:
        where = place(piece)
        if where is None or where not in taken:
            free.append(piece)
        if where is not None:
            taken.add(where)
    return free


async def process_concurrently(
    pull: Callable[[], Awaitable[Sequence[Work]]],
    do: Callable[[Work], Awaitable[Result]],
    write: Callable[[Sequence[Result]], Awaitable[None]],
    *,
    lanes: int,
    group: int,
    halt: Halt,
    grace: float,
    place: Callable[[Work], str | None] = without_place,
) -> None:
    """Pull until nothing comes, do up to `lanes` pieces at the same time, write results in groups of up to `group`.

    Of pieces with the same `place` one is done at a time; the others wait without holding a lane. When `halt` is set
    nothing more is pulled, pieces in flight get `grace` seconds and are then cancelled, and what was done is written.
    What `pull`, `do` or `write` raises ends the flow and is raised.
    """
    feed = _Feed(pull, halt, place)
    results: asyncio.Queue[Result | None] = asyncio.Queue(maxsize=4 * group)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_write_groups(results, write, group))
            workers = [tasks.create_task(_lane(feed, do, results)) for _ in range(lanes)]
            guard = tasks.create_task(_cancel_late(workers, feed.wake, halt, grace))
            await asyncio.wait(workers)
            guard.cancel()
            await results.put(None)
    except ExceptionGroup as several:
        raise find_first_error(several) from several


def find_first_error(several: ExceptionGroup[Exception]) -> Exception:
    """The first exception of a group of groups: what failed first, the others are mostly its consequences."""
    error = several.exceptions[0]
    return find_first_error(error) if isinstance(error, ExceptionGroup) else error


async def run_unless_halted(work: Coroutine[object, object, Result], halt: Halt, grace: float) -> Result | None:
    """The work's result, or None when `halt` was set and the work did not end within `grace` seconds after it."""
    task = asyncio.create_task(work)
    halted = asyncio.create_task(halt.wait())
    try:
        await asyncio.wait({task, halted}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=grace)
        if task.done():
            return task.result()
        return None
    finally:
        halted.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


class _Feed(Generic[Work]):
    """Hands out pieces one by one and pulls more when it runs dry; one lane at a time pulls or waits for a place."""

    def __init__(
        self, pull: Callable[[], Awaitable[Sequence[Work]]], halt: Halt, place: Callable[[Work], str | None]
    ) -> None:
        self._pull = pull
        self._halt = halt
        self._place = place
        self._ready: deque[Work] = deque()
        self._queues: dict[str, deque[Work]] = {}  # by each place that is taken, who waits for it
        self._waiting = 0
        self._dry = False
        self._freed = asyncio.Event()
        self._turn = asyncio.Lock()

    async def next(self) -> Work | None:
        """A piece whose place is free now, or None when there will be none."""
        async with self._turn:
            while not self._halt.is_set():
                if self._ready:
                    return self._ready.popleft()
                if not self._dry:
                    pulled = await self._pull()
                    self._dry = not pulled
                    self._admit(pulled)
                elif self._waiting:
                    self._freed.clear()
                    await self._freed.wait()
                else:
                    return None
            return None

    def leave(self, piece: Work) -> None:
        """Free the place of a piece for the one that has waited longest, before all that came anew."""
        place = self._place(piece)
        if place is None:
            return
        queue = self._queues[place]
        if not queue:
            del self._queues[place]
            return
        self._ready.appendleft(queue.popleft())
        self._waiting -= 1
        self._freed.set()

    def wake(self) -> None:
        """Let the lane that waits for a place look whether it was halted."""
        self._freed.set()

    def _admit(self, pieces: Sequence[Work]) -> None:
        for piece in pieces:
            place = self._place(piece)
            if place is not None and place in self._queues:
                self._queues[place].append(piece)
                self._waiting += 1
                continue
            if place is not None:
                self._queues[place] = deque()
            self._ready.append(piece)


async def _lane(
    feed: _Feed[Work], do: Callable[[Work], Awaitable[Result]], results: asyncio.Queue[Result | None]
) -> None:
    while (piece := await feed.next()) is not None:
        result = await do(piece)
        feed.leave(piece)
        await results.put(result)


async def _write_groups(
    results: asyncio.Queue[Result | None], write: Callable[[Sequence[Result]], Awaitable[None]], size: int
) -> None:
    while (first := await results.get()) is not None:
        ready = [first]
        ended = await _fill(ready, results, size)
        await write(ready)
        if ended:
            return


async def _fill(ready: list[Result], results: asyncio.Queue[Result | None], size: int) -> bool:
    """Add results until the group is full or lingered long enough; True when there will be no more."""
    deadline = asyncio.get_running_loop().time() + _LINGER_SECONDS
    try:
        async with asyncio.timeout_at(deadline):
            while len(ready) < size:
                result = await results.get()
                if result is None:
                    return True
                ready.append(result)
    except TimeoutError:
        pass
    return False


async def _cancel_late(
    workers: Sequence[asyncio.Task[None]], wake: Callable[[], None], halt: Halt, grace: float
) -> None:
    await halt.wait()
    wake()
    await asyncio.wait(workers, timeout=grace)
    for worker in workers:
        worker.cancel()
