"""One reading of each repository, shared by its servers: unchanged since the earlier one, or complete."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from msgspec import Struct, field

from crawler.collectors.repository.api.responses import CollectionPrevented, RepositoryGone
from crawler.http.deadlines import isolate_shared_work, pause_deadline
from evidence.canonical import Json

MAX_KEPT: Final = 2048
FRESH: Final = timedelta(hours=1)


class EarlierRepository(Struct, frozen=True, kw_only=True):
    """The earlier result: members of the body, ETags by part, and when it was last read completely."""

    facts: Mapping[str, Json]
    etags: Mapping[str, str] = field(default_factory=dict)
    full_at: datetime | None = None


class RepositoryProbe(Struct, frozen=True, kw_only=True):
    """The result of one reading. `unread` names parts that GitHub did not give; the next reading is then a full one."""

    facts: Mapping[str, Json]
    etags: Mapping[str, str]
    full_at: datetime
    looked_at: datetime
    way: str
    unread: tuple[str, ...] = ()


RepositoryReader: TypeAlias = Callable[[str, EarlierRepository | None], Awaitable[RepositoryProbe]]
"""Reads `OWNER/REPO`; raises RepositoryGone or CollectionPrevented."""


class SharedRepositoryProbes:
    """Reads each repository once for all its servers, and keeps the newest `most` results for `fresh`.

    A reading that was prevented is not kept: the next server tries again.
    """

    def __init__(
        self, read: RepositoryReader, now: Callable[[], datetime], *, fresh: timedelta = FRESH, most: int = MAX_KEPT
    ) -> None:
        self._read = read
        self._now = now
        self._fresh = fresh
        self._most = most
        self._probes: OrderedDict[
            str, tuple[datetime, asyncio.Task[RepositoryProbe | RepositoryGone | CollectionPrevented]]
        ] = OrderedDict()

    async def get(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        """The facts of a repository; raise RepositoryGone or CollectionPrevented. Cancelling one caller does not cancel
        others.
        """
        key = name.lower()
        task = self._kept_task(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._probe(name, known), context=isolate_shared_work())
            self._probes[key] = (self._now(), task)
            while len(self._probes) > self._most:
                self._probes.popitem(last=False)
        with pause_deadline():
            found = await asyncio.shield(task)
        if isinstance(found, RepositoryProbe):
            return found
        # All callers share this exception: without this, each raise would lengthen its traceback.
        raise found.with_traceback(None)

    def _kept_task(self, key: str) -> asyncio.Task[RepositoryProbe | RepositoryGone | CollectionPrevented] | None:
        begun, task = self._probes.get(key, (None, None))
        if begun is None or task is None or task.get_loop() is not asyncio.get_running_loop():
            return None
        if not task.done():
            return task
        stale = self._now() - begun > self._fresh or task.cancelled() or task.exception() is not None
        return None if stale or isinstance(task.result(), CollectionPrevented) else task

    async def _probe(
        self, name: str, known: EarlierRepository | None
    ) -> RepositoryProbe | RepositoryGone | CollectionPrevented:
        try:
            return await self._read(name, known)
        except (RepositoryGone, CollectionPrevented) as error:
            return error.with_traceback(None)
