"""One result for all callers that ask at the same time, and for some time afterwards."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from crawler.http.deadlines import isolate_shared_work, pause_deadline

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SharedResults(Generic[Key, Value]):
    """Keeps at most `most` values; `lifetime` gives how long one is valid."""

    def __init__(self, clock: Callable[[], datetime], lifetime: Callable[[Value], timedelta], *, most: int) -> None:
        self._clock = clock
        self._lifetime = lifetime
        self._most = most
        self._kept: OrderedDict[Key, tuple[datetime, Value]] = OrderedDict()
        self._making: dict[Key, asyncio.Task[Value]] = {}

    async def get(self, key: Key, make: Callable[[], Awaitable[Value]]) -> Value:
        """The kept value, or the result of `make` for the first caller; the others wait for that.

        A caller that is cancelled does not cancel it. The wait does not count against a caller's deadline.
        """
        kept = self._kept.get(key)
        if kept and self._clock() < kept[0]:
            return kept[1]
        task = self._making.get(key)
        if task is None:
            # A separate context: the deadline of the first caller must not end the task of the others.
            task = asyncio.get_running_loop().create_task(self._make(key, make), context=isolate_shared_work())
            self._making[key] = task
            task.add_done_callback(lambda _: self._making.pop(key, None))
        with pause_deadline():
            return await asyncio.shield(task)

    async def _make(self, key: Key, make: Callable[[], Awaitable[Value]]) -> Value:
        value = await make()
        self._kept[key] = (self._clock() + self._lifetime(value), value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value
