"""Refreshes the mirror: from an archive the first time, then by changed records (docs/decisions/0019)."""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import IO, Final

from msgspec import Struct

from crawler.advisories.http_client import AdvisoriesUnavailable
from crawler.advisories.mirror_database import open_for_writing, transaction
from crawler.advisories.osv_export import Change, Export, closing_changes
from crawler.advisories.records import (
    BadArchive,
    InvalidRecord,
    ValidRecord,
    delete_records,
    parse_record,
    read_archive_records,
    replace_ecosystem_records,
    store_invalid_records,
    upsert_records,
)
from evidence.advisories.osv_record import parse_timestamp
from evidence.model import Reason

ECOSYSTEMS: Final = ("npm", "PyPI", "Go", "crates.io", "RubyGems", "Packagist", "NuGet", "Maven")
"""The ecosystems whose lockfiles we read."""

OVERLAP: Final = timedelta(days=1)
"""How far below the mark a list is read: the exporter writes a record up to minutes after its date."""

RECONCILE: Final = timedelta(days=7)
"""How often the whole list is compared, because records disappear from an ecosystem without a change entry."""

_SINGLE: Final = 3_000
"""Changed records that are fetched one by one; for more changes the archive is loaded."""

_BATCH: Final = 200
_AT_A_TIME: Final = 8
_PAST: Final = "1970-01-01T00:00:00Z"


class RefreshMode(StrEnum):
    """How a refresh updated an ecosystem."""

    LOADED = "loaded"
    UPDATED = "updated"
    RECONCILED = "reconciled"
    FAILED = "failed"


class RefreshResult(Struct, frozen=True, kw_only=True):
    """The result of a refresh for one ecosystem. After a failure the former content stays."""

    ecosystem: str
    how: RefreshMode
    written: int = 0
    removed: int = 0
    bad: tuple[InvalidRecord, ...] = ()
    why: str = ""


class RefreshInProgress(Exception):
    """Another process is refreshing this mirror."""


class _Known(Struct, frozen=True):
    """The state of an ecosystem in the mirror before a refresh."""

    mark: datetime
    reconciled_at: datetime
    modified: dict[str, str]
    whole: bool


class Refresher:
    """Refreshes one mirror. `clock` is the wall clock, in UTC."""

    def __init__(self, export: Export, path: Path, clock: Callable[[], datetime]) -> None:
        self._export = export
        self._path = path
        self._clock = clock

    async def refresh(
        self,
        ecosystems: Sequence[str] = ECOSYSTEMS,
        *,
        anew: bool = False,
        progress: Callable[[RefreshResult], object] | None = None,
    ) -> list[RefreshResult]:
        """Refresh ecosystems one after the other; `anew` loads their archives again.

        Raises RefreshInProgress, and sqlite3.Error or OSError for failures of the local disk. A failure of the export
        is a
        RefreshResult with FAILED, and the next ecosystem follows.
        """
        done = []
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(Path(f"{self._path}.lock")):
            for ecosystem in ecosystems:
                try:
                    outcome = await self._one(ecosystem, anew=anew)
                except AdvisoriesUnavailable as failure:
                    outcome = RefreshResult(ecosystem=ecosystem, how=RefreshMode.FAILED, why=failure.detail)
                except BadArchive as failure:
                    outcome = RefreshResult(ecosystem=ecosystem, how=RefreshMode.FAILED, why=str(failure))
                done.append(outcome)
                if progress is not None:
                    progress(outcome)
        return done

    async def _one(self, ecosystem: str, *, anew: bool) -> RefreshResult:
        now = self._clock()
        known = None if anew else await asyncio.to_thread(self._known, ecosystem)
        if known is None:
            return await self._load(ecosystem, now)
        whole = not known.whole or now - known.reconciled_at >= RECONCILE
        listed = await self._listed(ecosystem, None if whole else known.mark - OVERLAP)
        changed = [change for change in listed if _differs(known.modified.get(change.id), change.modified)]
        if len(changed) > _SINGLE:
            return await self._load(ecosystem, now)
        gone = sorted(known.modified.keys() - {change.id for change in listed}) if whole else []
        if 2 * len(gone) > len(known.modified):
            raise AdvisoriesUnavailable(
                Reason.UNREACHABLE, f"the list of {ecosystem} has lost more than half of its records"
            )
        return await self._update(ecosystem, now, changed, gone, mark=_mark(listed, now, known.mark), whole=whole)

    async def _load(self, ecosystem: str, now: datetime) -> RefreshResult:
        """Load the archive. The mark is read first, so that changes during the download belong to the next refresh."""
        mark = await self._first_mark(ecosystem, now)
        with tempfile.TemporaryFile(dir=self._path.parent) as file:
            await self._export.archive(ecosystem, file)
            return await asyncio.to_thread(self._replace, ecosystem, file, now, mark)

    def _replace(self, ecosystem: str, file: IO[bytes], now: datetime, mark: datetime | None) -> RefreshResult:
        newest = _Newest(now)
        file.seek(0)
        with open_for_writing(self._path) as connection:
            with transaction(connection):
                written, bad = replace_ecosystem_records(
                    connection, ecosystem, newest.watching(read_archive_records(file))
                )
                if not written:
                    raise BadArchive(f"the archive of {ecosystem} holds no record that can be read")
                self._stand(connection, ecosystem, now, mark or newest.seen, reconciled=True)
            connection.execute("PRAGMA busy_timeout = 0")  # with an open reader, the log stays until the next refresh
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return RefreshResult(ecosystem=ecosystem, how=RefreshMode.LOADED, written=written, bad=tuple(bad))

    async def _update(
        self, ecosystem: str, now: datetime, changed: list[Change], gone: list[str], *, mark: datetime, whole: bool
    ) -> RefreshResult:
        """Fetch changed records one by one, each in its own transaction; the mark moves when all of them are stored."""
        how = RefreshMode.RECONCILED if whole else RefreshMode.UPDATED
        written, bad = 0, list[InvalidRecord]()
        if whole:
            await asyncio.to_thread(self._forget_bad, ecosystem)
        for start in range(0, len(changed), _BATCH):
            found = await self._fetch(ecosystem, changed[start : start + _BATCH])
            good = [one for one in found if isinstance(one, ValidRecord)]
            lost = [one for one in found if isinstance(one, InvalidRecord)]
            if start == 0 and not good and all(one.why == _MISSING for one in lost):
                return await self._load(ecosystem, now)  # the export has archives but no single records
            written += await asyncio.to_thread(self._put, ecosystem, good, lost)
            bad += lost
        await asyncio.to_thread(self._finish, ecosystem, now, mark, gone, whole)
        return RefreshResult(ecosystem=ecosystem, how=how, written=written, removed=len(gone), bad=tuple(bad))

    async def _fetch(self, ecosystem: str, changes: Sequence[Change]) -> list[ValidRecord | InvalidRecord]:
        turn = asyncio.Semaphore(_AT_A_TIME)

        async def one(change: Change) -> ValidRecord | InvalidRecord | AdvisoriesUnavailable:
            async with turn:
                try:
                    data = await self._export.record(ecosystem, change.id)
                except AdvisoriesUnavailable as failure:
                    return InvalidRecord(change.id, _MISSING) if failure.missing else failure
                return parse_record(change.id, data, change.modified)

        found = []
        for outcome in await asyncio.gather(*(one(change) for change in changes)):
            if isinstance(outcome, AdvisoriesUnavailable):
                raise outcome
            found.append(outcome)
        return found

    async def _listed(self, ecosystem: str, floor: datetime | None) -> list[Change]:
        """The list of changes since a date, or all of it."""
        listed = []
        async with closing_changes(self._export.changes(ecosystem)) as changes:
            async for change in changes:
                if floor is not None and parse_timestamp(change.modified) < floor:
                    break
                listed.append(change)
        return listed

    async def _first_mark(self, ecosystem: str, now: datetime) -> datetime | None:
        """The newest date of the list that is not in the future; None when there is no list."""
        try:
            async with closing_changes(self._export.changes(ecosystem)) as changes:
                async for change in changes:
                    if parse_timestamp(change.modified) <= now:
                        return parse_timestamp(change.modified)
        except AdvisoriesUnavailable as failure:
            if not failure.missing:
                raise
        return None

    # Functions with disk access, called in a thread.

    def _known(self, ecosystem: str) -> _Known | None:
        with open_for_writing(self._path) as connection:
            query = "SELECT mark, reconciled_at, whole FROM ecosystem WHERE name = ?"
            row = connection.execute(query, (ecosystem,)).fetchone()
            if row is None:
                return None
            records = connection.execute("SELECT id, modified FROM record WHERE ecosystem = ?", (ecosystem,))
            return _Known(parse_timestamp(row[0]), parse_timestamp(row[1]), dict(records.fetchall()), bool(row[2]))

    def _forget_bad(self, ecosystem: str) -> None:
        """Forget invalid records: a comparison of the whole list finds them again."""
        with open_for_writing(self._path) as connection, transaction(connection):
            connection.execute("UPDATE ecosystem SET whole = 0 WHERE name = ?", (ecosystem,))
            connection.execute("DELETE FROM bad WHERE ecosystem = ?", (ecosystem,))

    def _put(self, ecosystem: str, good: list[ValidRecord], bad: list[InvalidRecord]) -> int:
        with open_for_writing(self._path) as connection, transaction(connection):
            connection.execute("UPDATE ecosystem SET whole = 0 WHERE name = ?", (ecosystem,))
            written = upsert_records(connection, ecosystem, good)
            store_invalid_records(connection, ecosystem, bad)
            return written

    def _finish(self, ecosystem: str, now: datetime, mark: datetime, gone: list[str], reconciled: bool) -> None:
        with open_for_writing(self._path) as connection, transaction(connection):
            delete_records(connection, ecosystem, gone)
            self._stand(connection, ecosystem, now, mark, reconciled=reconciled)

    def _stand(
        self, connection: sqlite3.Connection, ecosystem: str, now: datetime, mark: datetime, *, reconciled: bool
    ) -> None:
        connection.execute(
            "INSERT INTO ecosystem (name, mark, refreshed_at, reconciled_at, whole, records) "
            "VALUES (?1, ?2, ?3, ?4, 1, (SELECT count(*) FROM record WHERE ecosystem = ?1)) "
            "ON CONFLICT (name) DO UPDATE SET mark = ?2, refreshed_at = ?3, whole = 1, records = excluded.records, "
            "reconciled_at = CASE WHEN ?5 THEN ?4 ELSE reconciled_at END",
            (ecosystem, mark.isoformat(), now.isoformat(), now.isoformat(), reconciled),
        )


class _Newest:
    """Tracks the newest modification date of records that is not in the future."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self.seen = parse_timestamp(_PAST)

    def watching(self, found: Iterator[ValidRecord | InvalidRecord]) -> Iterator[ValidRecord | InvalidRecord]:
        for one in found:
            if isinstance(one, ValidRecord) and self.seen < (date := parse_timestamp(one.modified)) <= self._now:
                self.seen = date
            yield one


_MISSING: Final = "it is in the list and not in the export"


def _mark(listed: Sequence[Change], now: datetime, before: datetime) -> datetime:
    """The next mark: never in the future, as dates of some records are, and never before the former mark."""
    return max([before, *(date for change in listed if (date := parse_timestamp(change.modified)) <= now)])


def _differs(known: str | None, listed: str) -> bool:
    return known is None or (known != listed and parse_timestamp(known) != parse_timestamp(listed))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock of a mirror; raise RefreshInProgress when another process holds it."""
    with path.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RefreshInProgress("another process refreshes the mirror of advisories") from error
        yield
