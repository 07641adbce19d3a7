"""Which state of the store the pages are made from, asked for at most once in a while."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from math import inf

from anyio import CapacityLimiter, to_thread

from evidence.store import NotMigrated, StoreUnavailable
from publish.site.site import Site

UNKNOWN = ""


class Revisions:
    """The revision of the store, at most `limits.fresh` old.

    It is asked for by a thread of its own, since all pages wait for it, and when half of that time is over, so that
    where many visitors come none of them waits.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = asyncio.Lock()
        self._known = UNKNOWN
        self._asked: float | None = None
        self._forgotten = 0
        self._ahead: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._thread: CapacityLimiter | None = None

    async def current(self) -> str:
        """The revision. While the database is away it is the last one that was seen, so that known pages are served."""
        fresh = self._site.desk.limits.fresh.total_seconds()
        age = self._age()
        if age >= fresh:
            await self._renew(fresh)
        elif age >= fresh / 2 and (self._ahead is None or self._ahead.done()):
            self._ahead = asyncio.create_task(self._renew(fresh / 2))
        return self._known

    def forget(self) -> None:
        """Ask again next time: something was just written."""
        self._asked = None
        self._forgotten += 1

    def _age(self) -> float:
        return inf if self._asked is None else self._site.desk.monotonic() - self._asked

    async def _renew(self, age: float) -> None:
        """Ask, unless somebody has just done so. What was written meanwhile may not be in the answer."""
        async with self._lock:
            if self._age() < age:
                return
            began, forgotten = self._site.desk.monotonic(), self._forgotten
            self._known = await self._ask()
            self._asked = began if self._forgotten == forgotten else None

    async def _ask(self) -> str:
        self._thread = self._thread or CapacityLimiter(1)
        try:
            shown, settings = await to_thread.run_sync(self._look, limiter=self._thread)
        except (StoreUnavailable, NotMigrated):
            return self._known
        if self._site.store.board.is_behind() and (self._loading is None or self._loading.done()):
            self._loading = asyncio.create_task(self._load())
        # What is old says so, so a copy does not outlive a day.
        return f"{shown} {self._site.desk.now():%Y%m%d} {settings}"

    def _look(self) -> tuple[str, str]:
        shown = self._site.store.board.revision()
        return shown, self._site.desk.mark()  # after it: what it makes new is newer then

    async def _load(self) -> None:
        """Have the lists that are shown now in memory, beside all else; until then they come from the database."""
        with suppress(StoreUnavailable, NotMigrated):
            await to_thread.run_sync(self._site.store.board.load, limiter=CapacityLimiter(1))
