"""Bounded concurrency: pull work, process many items at the same time, write results in groups, stop when asked."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from operator import itemgetter
from typing import Generic, TypeAlias, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")

Halt: TypeAlias = asyncio.Event

# A group is written when it is full, or this long after its first result: a kill loses no more than that. A write costs
# more for its transaction than for one server.
_LINGER_SECONDS = 2.0


class _End:
    """Follows the last result in a queue, since a result may be any value, None too."""


_END = _End()


def without_key(_: object) -> None:
    """The key of items that never wait for one another."""


def split_turns(items: Sequence[Work], key_of: Callable[[Work], str | None]) -> tuple[list[Work], list[Work]]:
    """The items that need not wait for another one of the sequence, and the others in the order of their turns."""
    before: Counter[str | None] = Counter()
    turns: list[tuple[int, Work]] = []
    for item in items:
        key = key_of(item)
        turns.append((before[key] if key is not None else 0, item))
        before[key] += 1
    first = [item for turn, item in turns if turn == 0]
    return first, [item for turn, item in sorted(turns, key=itemgetter(0)) if turn > 0]


async def process_concurrently(
    pull: Callable[[], Awaitable[Sequence[Work]]],
    process: Callable[[Work], Awaitable[Result]],
    write: Callable[[Sequence[Result]], Awaitable[None]],
    *,
    lanes: int,
    group: int,
    halt: Halt,
    grace: float,
    key_of: Callable[[Work], str | None] = without_key,
) -> None:
    """Pull until nothing comes, process up to `lanes` items at the same time, write results in groups of up to `group`.

    Items with the same key are processed one at a time; the others wait without holding a lane. When `halt` is set
    nothing more is pulled, items in flight get `grace` seconds and are then cancelled, and finished results are
    written. An exception of `pull`, `process` or `write` ends the flow and is raised.
    """
    feed = _Feed(pull, halt, key_of)
    results: asyncio.Queue[Result | _End] = asyncio.Queue(maxsize=4 * group)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_write_groups(results, write, group))
            workers = [tasks.create_task(_lane(feed, process, results)) for _ in range(lanes)]
            guard = tasks.create_task(_cancel_late(workers, feed.wake, halt, grace))
            await asyncio.wait(workers)
            guard.cancel()
            await results.put(_END)
    except ExceptionGroup as several:
        raise find_first_error(several) from several


def find_first_error(several: ExceptionGroup[Exception]) -> Exception:
    """The first exception of nested groups; the others are mostly its consequences."""
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
    """Hands out items one by one and pulls more when it is empty; one lane at a time pulls or waits for a key."""

    def __init__(
        self, pull: Callable[[], Awaitable[Sequence[Work]]], halt: Halt, key_of: Callable[[Work], str | None]
    ) -> None:
        self._pull = pull
        self._halt = halt
        self._key_of = key_of
        self._ready: deque[Work] = deque()
        self._queues: dict[str, deque[Work]] = {}  # waiting items by each key that is in use
        self._waiting = 0
        self._dry = False
        self._freed = asyncio.Event()
        self._turn = asyncio.Lock()

    async def next(self) -> Work | None:
        """An item whose key is free now, or None when there will be no more."""
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

    def release(self, item: Work) -> None:
        """Free the key of an item for the item that has waited longest for it, which goes to the front."""
        key = self._key_of(item)
        if key is None:
            return
        queue = self._queues[key]
        if not queue:
            del self._queues[key]
            return
        self._ready.appendleft(queue.popleft())
        self._waiting -= 1
        self._freed.set()

    def wake(self) -> None:
        """Let the lane that waits for a key check `halt`."""
        self._freed.set()

    def _admit(self, items: Sequence[Work]) -> None:
        for item in items:
            key = self._key_of(item)
            if key is not None and key in self._queues:
                self._queues[key].append(item)
                self._waiting += 1
                continue
            if key is not None:
                self._queues[key] = deque()
            self._ready.append(item)


async def _lane(
    feed: _Feed[Work], process: Callable[[Work], Awaitable[Result]], results: asyncio.Queue[Result | _End]
) -> None:
    while (item := await feed.next()) is not None:
        result = await process(item)
        feed.release(item)
        await results.put(result)


async def _write_groups(
    results: asyncio.Queue[Result | _End], write: Callable[[Sequence[Result]], Awaitable[None]], size: int
) -> None:
    while not isinstance(first := await results.get(), _End):
        ready = [first]
        ended = await _fill(ready, results, size)
        await write(ready)
        if ended:
            return


async def _fill(ready: list[Result], results: asyncio.Queue[Result | _End], size: int) -> bool:
    """Add results until the group is full or _LINGER_SECONDS have passed; True when there will be no more."""
    deadline = asyncio.get_running_loop().time() + _LINGER_SECONDS
    try:
        async with asyncio.timeout_at(deadline):
            while len(ready) < size:
                result = await results.get()
                if isinstance(result, _End):
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
