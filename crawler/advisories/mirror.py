"""Reads the mirror: its ecosystems, their age, and the advisories about a package."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

import orjson
from msgspec import Struct

from crawler.advisories.mirror_database import open_for_reading
from evidence.advisories.osv_record import Advisory, Affected, Event, Range, parse_advisory, parse_timestamp
from evidence.advisories.package_matching import Candidate

_MAX_BODY: Final = 64 * 1024 * 1024
_MAX_CLOSURE: Final = 1_000
"""Ids that are followed through aliases."""


class EcosystemState(Struct, frozen=True, kw_only=True):
    """The state of one ecosystem in the mirror. `bad` names up to 20 records that could not be parsed.

    `whole` is false while a refresh is running, and after an interrupted one.
    """

    name: str
    records: int
    refreshed_at: datetime
    whole: bool
    bad_total: int = 0
    bad: tuple[tuple[str, str], ...] = ()

    @property
    def partial(self) -> bool:
        return not self.whole or self.bad_total > 0

    def is_stale(self, now: datetime, after: timedelta) -> bool:
        """Whether the last refresh is longer ago than `after`."""
        return now - self.refreshed_at > after


class Snapshot:
    """One consistent state of the mirror, valid within its `with` block."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.states = tuple(_states(connection))
        self.ecosystems = frozenset(state.name for state in self.states)

    def candidates(self, ecosystem: str, name: str) -> list[Candidate]:
        """Advisories that name a package and are not withdrawn; the name is normalised."""
        query = "SELECT id, parts FROM affected WHERE ecosystem = ? AND name = ? ORDER BY id"
        rows = self._connection.execute(query, (ecosystem, name))
        return [Candidate(found, unpack_affected(parts, ecosystem, name)) for found, parts in rows]

    def advisories(self, ids: Iterable[tuple[str, str]]) -> dict[str, Advisory]:
        """The records of (ecosystem, id) pairs, by id."""
        query = "SELECT body FROM record WHERE ecosystem = ? AND id = ?"
        found: dict[str, Advisory] = {}
        for ecosystem, name in sorted(set(ids)):
            row = self._connection.execute(query, (ecosystem, name)).fetchone()
            if row is not None:
                found[name] = _advisory(row[0])
        return found

    def named(self, ids: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Aliases by record, for all records that are reachable from these ids."""
        query = "SELECT id, other FROM alias WHERE id = ?1 UNION SELECT id, other FROM alias WHERE other = ?1"
        found: dict[str, set[str]] = {}
        seen: set[str] = set()
        waiting = sorted(set(ids))
        while waiting and len(seen) < _MAX_CLOSURE + len(found):
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            for name, other in self._connection.execute(query, (one,)):
                found.setdefault(name, set()).add(other)
                waiting += [place for place in (name, other) if place not in seen]
        return {name: sorted(others) for name, others in sorted(found.items())}


class Mirror:
    """A mirror in one file. Each `snapshot` has its own connection, so threads may read at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot | None]:
        """The current state of the mirror; None when there is no mirror yet. Raise MirrorUnreadable."""
        with open_for_reading(self.path) as connection:
            yield Snapshot(connection) if connection is not None else None

    def states(self) -> tuple[EcosystemState, ...]:
        """The states of all ecosystems; empty when there is no mirror. Raise MirrorUnreadable."""
        with self.snapshot() as snapshot:
            return snapshot.states if snapshot else ()


def pack_affected(parts: Sequence[Affected]) -> bytes:
    """The parts of an advisory about one package, reduced to what matching needs."""
    return orjson.dumps(
        [
            [sorted(part.versions), [[r.semver, [[e.kind, e.version] for e in r.events]] for r in part.ranges]]
            for part in parts
        ]
    )


def unpack_affected(packed: bytes, ecosystem: str, name: str) -> tuple[Affected, ...]:
    """The inverse of `pack_affected`."""
    return tuple(
        Affected(
            ecosystem=ecosystem,
            name=name,
            versions=frozenset(versions),
            ranges=tuple(Range(semver, tuple(Event(*event) for event in events)) for semver, events in ranges),
        )
        for versions, ranges in orjson.loads(packed)
    )


@lru_cache(maxsize=2_048)
def _advisory(body: bytes) -> Advisory:
    """The parsed record, cached: servers share most packages, so a nightly run reads the same records repeatedly."""
    return parse_advisory(orjson.loads(zlib.decompressobj().decompress(body, _MAX_BODY)))


def _states(connection: sqlite3.Connection) -> Iterator[EcosystemState]:
    query = "SELECT name, records, refreshed_at, whole FROM ecosystem ORDER BY name"
    for name, count, refreshed_at, whole in connection.execute(query).fetchall():
        bad = connection.execute("SELECT name, why FROM bad WHERE ecosystem = ? ORDER BY name", (name,)).fetchall()
        yield EcosystemState(
            name=name,
            records=count,
            refreshed_at=parse_timestamp(refreshed_at),
            whole=bool(whole),
            bad_total=len(bad),
            bad=tuple((str(one), str(why)) for one, why in bad[:20]),
        )
