"""The edition of pages: the published run and a revision of all changes since then."""

from __future__ import annotations

import asyncio
import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from starlette.types import Scope

from evidence.model import ServerId
from evidence.store import NotMigrated, StoreUnavailable
from publish.web.context import SiteContext

_PACKAGES: Final = Path(__file__).resolve().parents[2]
_RENDERING: Final = ("evidence", "scoring", "publish")
"""Packages whose code determines the bytes of a page."""

_SOURCES: Final = frozenset({".py", ".j2", ".css", ".svg"})
_DIGITS: Final = 32
_SERVER_PAGE: Final = re.compile(r"/servers/(srv_[0-9a-f]+)")


class Edition(Struct, frozen=True):
    """The state of the store from which pages are rendered.

    The page of a server follows from `run` alone, unless the server is one of those that `changed` since: a dispute, a
    claim, a re-test, a disclosure, an opt-out. All other pages follow from `revision`. An empty `run` means that
    nothing is published.
    """

    revision: str
    run: str = ""
    changed: frozenset[ServerId] = frozenset()

    def of(self, path: str, query: bytes) -> str:
        """The state that determines the page at a path: the run alone, or the revision."""
        match = _SERVER_PAGE.fullmatch(path)
        is_of_run = match is not None and bool(self.run) and not query and match[1] not in self.changed
        return f"run {self.run}" if is_of_run else f"revision {self.revision}"


class Editions:
    """Reads the edition once for all waiting requests; each request gets an edition that was read after it arrived."""

    def __init__(self, site: SiteContext) -> None:
        self._site = site
        self._rendering = ""
        self._known: Edition | None = None
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None
        self._thread: CapacityLimiter | None = None

    async def tag(self, scope: Scope) -> str:
        """The entity tag of the requested page; empty until an edition could be read."""
        edition = await self.current()
        if edition is None:
            return ""
        address = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        query: bytes = scope["query_string"]
        # The settings of a process do not change.
        self._rendering = self._rendering or rendering(self._site)
        parts = [self._rendering, edition.of(scope["path"], query), address, query.decode("latin-1")]
        return sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]

    async def current(self) -> Edition | None:
        """The current edition; while the database is unavailable, the last one."""
        if self._next is None:
            self._next = asyncio.create_task(self._read(self._running))
        await asyncio.shield(self._next)
        return self._known

    async def _read(self, before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            await asyncio.wait([before])
        # A request that arrives from here on needs another read: this one may miss what was written before it.
        self._running, self._next = self._next, None
        self._thread = self._thread or CapacityLimiter(1)
        try:
            self._known = await to_thread.run_sync(read_edition, self._site, self._known, limiter=self._thread)
        except (StoreUnavailable, NotMigrated):
            return


def read_edition(site: SiteContext, known: Edition | None = None) -> Edition:
    """The current edition; `known` if it is unchanged."""
    shown, changes = site.store.changed_servers.read_revisions()
    settings = site.backend.mark(shown)
    # Pages state ages in days.
    revision = f"{shown} {changes} {site.backend.now():%Y%m%d} {settings}"
    if known is not None and known.revision == revision:
        return known
    found = site.store.changed_servers.read_changed_servers()
    return Edition(revision) if found is None else Edition(revision, f"{found.version} {settings}", found.servers)


def rendering(site: SiteContext) -> str:
    """A digest of the code, the templates and the settings from which pages are rendered."""
    backend = site.backend
    shown = (backend.base_url, backend.operator, backend.limits, backend.community, backend.datasets)
    return sha256(f"{_code()} {shown!r}".encode()).hexdigest()


@cache
def _code() -> str:
    """A digest of the source files: they may change while the version stays the same."""
    found = sha256()
    for path in sorted(path for name in _RENDERING for path in (_PACKAGES / name).rglob("*")):
        if path.suffix in _SOURCES:
            found.update(f"{path.relative_to(_PACKAGES)}\0".encode() + sha256(path.read_bytes()).digest())
    return found.hexdigest()
