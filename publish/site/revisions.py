"""Which state of the store the pages are made from, asked for at most once in a while."""

from __future__ import annotations

import asyncio

from anyio import to_thread

from evidence.store import NotMigrated, StoreUnavailable
from publish.site.site import Site

UNKNOWN = ""


class Revisions:
    """The revision of the store, at most `limits.fresh` old."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = asyncio.Lock()
        self._known = UNKNOWN
        self._asked: float | None = None

    async def current(self) -> str:
        """The revision. While the database is away it is the last one that was seen, so that known pages are served."""
        if self._is_fresh():
            return self._known
        async with self._lock:
            if not self._is_fresh():
                self._known = await self._ask()
                self._asked = self._site.desk.monotonic()
        return self._known

    def forget(self) -> None:
        """Ask again next time: something was just written."""
        self._asked = None

    def _is_fresh(self) -> bool:
        age = None if self._asked is None else self._site.desk.monotonic() - self._asked
        return age is not None and age < self._site.desk.limits.fresh.total_seconds()

    async def _ask(self) -> str:
        try:
            shown = await to_thread.run_sync(self._site.store.board.revision)
            settings = await to_thread.run_sync(self._site.desk.mark)  # after it: what it makes new is newer then
        except (StoreUnavailable, NotMigrated):
            return self._known
        # What is old says so, so a copy does not outlive a day.
        return f"{shown} {self._site.desk.now():%Y%m%d} {settings}"
