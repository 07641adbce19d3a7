"""One look at one repository: unchanged since the last one, or read whole. Many servers share it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from crawler.collectors.repository.api.responses import CollectionPrevented, RepositoryGone
from crawler.http.deadlines import isolate_shared_work, pause_deadline
from evidence.canonical import Json

REMEMBERED: Final = 2048
FRESH: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRepository:
    """What an earlier look found: members of the body, ETags by part, and when it was last read whole."""

    facts: Mapping[str, Json]
    etags: Mapping[str, str] = field(default_factory=dict)
    full_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryProbe:
    """What a look found. `unread` names parts that GitHub did not give, for which the next look is a whole one."""

    facts: Mapping[str, Json]
    etags: Mapping[str, str]
    full_at: datetime
    looked_at: datetime
    way: str
    unread: tuple[str, ...] = ()


class RepositoryReader(Protocol):
    """Looks at a repository; raises Gone or Prevented."""

    async def __call__(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        """The look at `OWNER/REPO`."""
        ...


class SharedRepositoryProbes:
    """Looks at each repository once, however many servers live in it, and remembers the newest `most` for `fresh`.

    A look that was prevented is not remembered: the next server tries again.
    """

    def __init__(
        self, read: RepositoryReader, now: Callable[[], datetime], *, fresh: timedelta = FRESH, most: int = REMEMBERED
    ) -> None:
        self._read = read
        self._now = now
        self._fresh = fresh
        self._most = most
        self._looks: OrderedDict[
            str, tuple[datetime, asyncio.Task[RepositoryProbe | RepositoryGone | CollectionPrevented]]
        ] = OrderedDict()

    async def at(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        """The look at a repository; raise Gone or Prevented. Who is cancelled does not cancel the others."""
        key = name.lower()
        task = self._remembered(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._look(name, known), context=isolate_shared_work())
            self._looks[key] = (self._now(), task)
            while len(self._looks) > self._most:
                self._looks.popitem(last=False)
        with pause_deadline():
            found = await asyncio.shield(task)
        if isinstance(found, RepositoryProbe):
            return found
        # One object for all who ask: without this, each raise would lengthen its traceback.
        raise found.with_traceback(None)

    def _remembered(self, key: str) -> asyncio.Task[RepositoryProbe | RepositoryGone | CollectionPrevented] | None:
        begun, task = self._looks.get(key, (None, None))
        if begun is None or task is None or task.get_loop() is not asyncio.get_running_loop():
            return None
        if not task.done():
            return task
        stale = self._now() - begun > self._fresh or task.cancelled() or task.exception() is not None
        return None if stale or isinstance(task.result(), CollectionPrevented) else task

    async def _look(
        self, name: str, known: EarlierRepository | None
    ) -> RepositoryProbe | RepositoryGone | CollectionPrevented:
        try:
            return await self._read(name, known)
        except (RepositoryGone, CollectionPrevented) as error:
            return error.with_traceback(None)
