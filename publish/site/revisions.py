"""Which state of the store the pages are made from, asked for at most once in a while."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Final

from anyio import CapacityLimiter, to_thread

from evidence.store import NotMigrated, StoreUnavailable
from publish.site.ahead import Known, stamp_of
from publish.site.site import Site

UNKNOWN = ""

REST: Final = 60.0
"""Seconds after which lists are read into memory again where the database was too slow for it, or went away."""


def ask(site: Site) -> str:
    """The revision of now."""
    with site.store.at_once():
        shown = site.store.board.revision()
        happened = site.store.happenings.revision()
    settings = site.desk.mark()  # after them: what it makes new is newer then
    # What is old says so, so a copy does not outlive a day.
    return f"{shown} {happened} {site.desk.now():%Y%m%d} {settings}"


def learn(site: Site, revision: str = UNKNOWN) -> Known:
    """What holds of pages made ahead at a revision, by default that of now: read again if it is another one."""
    revision = revision or ask(site)
    known = site.ahead.known
    if known is None or known.revision != revision:
        known = _read(site, revision)
        site.ahead.turn_to(known)
    return known


def _read(site: Site, revision: str) -> Known:
    happened = site.store.happenings.look()
    if happened is None or site.ahead.pages is None:
        return Known(revision, "")
    desk = site.desk
    operator = (desk.operator.contact_url, desk.operator.user_agent)
    night = (site.ahead.pages.about, happened.night, desk.mark())
    return Known(revision, stamp_of(*night, desk.base_url, *operator), happened.servers)


class Revisions:
    """The revision of the store, at most `limits.fresh` old.

    It is asked for by a thread of its own, since all pages wait for it, and when half of that time is over, so that
    where many visitors come none of them waits.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known = UNKNOWN
        self._asked: float | None = None
        self._forgotten = 0
        self._renewing: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._load_again = -inf
        self._thread: CapacityLimiter | None = None

    async def current(self) -> str:
        """The revision. While the database is away it is the last one that was seen, so that known pages are served."""
        fresh = self._site.desk.limits.fresh.total_seconds()
        age = self._age()
        if age >= fresh:
            is_late = self._renewing is not None and not self._renewing.done()
            await asyncio.shield(self._renewal())
            if is_late and self._age() >= fresh:  # the answer may be older than what was written before this request
                await asyncio.shield(self._renewal())
        elif age >= fresh / 2:
            self._renewal()
        return self._known

    def forget(self) -> None:
        """Ask again next time: something was just written."""
        self._asked = None
        self._site.ahead.trust(None)
        self._forgotten += 1

    def _age(self) -> float:
        return inf if self._asked is None else self._site.desk.monotonic() - self._asked

    def _renewal(self) -> asyncio.Task[None]:
        """The question that is under way, or a new one. All who wait for it go on at once, not one after the other."""
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())
        return self._renewing

    async def _renew(self) -> None:
        """Ask. What was written meanwhile may not be in the answer."""
        began, forgotten = self._site.desk.monotonic(), self._forgotten
        known = await self._ask()
        if known is not None:
            self._known = known
        self._asked = began if self._forgotten == forgotten else None
        self._site.ahead.trust(self._asked if known is not None else None)

    async def _ask(self) -> str | None:
        """The revision of now; None while the database is away."""
        self._thread = self._thread or CapacityLimiter(1)
        try:
            known = await to_thread.run_sync(_current, self._site, limiter=self._thread)
        except (StoreUnavailable, NotMigrated):
            return None
        is_free = self._loading is None or self._loading.done()
        if is_free and self._site.store.board.is_behind() and self._site.desk.monotonic() >= self._load_again:
            self._loading = asyncio.create_task(self._load())
        return known

    async def _load(self) -> None:
        """Have the lists that are shown now in memory, beside all else; until then they come from the database."""
        try:
            await to_thread.run_sync(self._site.store.board.load, limiter=CapacityLimiter(1))
        except (StoreUnavailable, NotMigrated):
            self._load_again = self._site.desk.monotonic() + REST


def _current(site: Site) -> str:
    revision = ask(site)
    if site.ahead.pages is not None:
        learn(site, revision)
    return revision
