"""Stores every attempt to connect to a server once, although the records of many runs contain it.

A record of kind `samples` holds all attempts of 30 days, and most of them are in the record of the next run too. So the
attempts of a server are numbered, and the note of a record holds ranges of numbers. attempt_pages.py has the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection, func, select

from evidence.canonical import Json
from evidence.kinds.samples import MAX_SAMPLES, Sample, SampleObservation
from evidence.store.records.attempt_pages import (
    ATTEMPTS_PER_PAGE,
    Ranges,
    StoredAttempts,
    find_page_range,
    is_storable,
    select_attempts,
    unpack_stored_attempts,
)
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.packing import group_ranges
from evidence.store.tables.core import SERVER
from evidence.store.tables.evidence import ATTEMPTS

_COLUMNS: Final = ("server_key", "page", "attempts")
_MAX_PAGES: Final = MAX_SAMPLES // ATTEMPTS_PER_PAGE + 2
_NONE: Final = StoredAttempts()


def extract_attempts(observation: Mapping[str, Json]) -> tuple[Sample, ...] | None:
    """The attempts of an observation of `samples`; None when it holds anything else or an attempt is not storable."""
    if isinstance(observation, SampleObservation):
        return observation.samples or None
    rows = observation.get("samples")
    if len(observation) != 1 or not rows or not isinstance(rows, Sequence):
        return None
    found = [_attempt(row) for row in rows]
    attempts = tuple(attempt for attempt in found if attempt is not None)
    return attempts if len(attempts) == len(found) else None


def store_attempts(connection: Connection, attempts: Mapping[int, Sequence[Sample]]) -> dict[int, Ranges]:
    """Store new attempts of servers, by key; return the numbers of all given attempts.

    A server with an attempt that the packed form cannot hold is left out.
    """
    found: dict[int, Ranges] = {}
    for batch in split_batches(sorted(attempts)):
        # Two runs may write the same server at once. The order of ids, in which registry pages write servers too,
        # prevents deadlocks.
        servers = select(SERVER.c.key).where(SERVER.c.key.in_(batch)).order_by(SERVER.c.id)
        connection.execute(servers.with_for_update(key_share=True))
        known = read_newest_attempts(connection, {server: attempts[server] for server in batch})
        rows: list[tuple[object, ...]] = []
        for server in batch:
            have = known.get(server, _NONE)
            places = {sample: have.first + place for place, sample in enumerate(have.attempts)}
            new = [sample for sample in dict.fromkeys(attempts[server]) if sample not in places]
            if all(map(is_storable, new)):
                places |= {sample: have.end + place for place, sample in enumerate(new)}
                found[server] = tuple(group_ranges(places[sample] for sample in attempts[server]))
                rows += [(server, page, packed) for page, packed in have.list_changed_pages(new)]
        insert_rows(connection, ATTEMPTS, _COLUMNS, rows, unique=["server_key", "page"], update=["attempts"])
    return found


def read_attempts(connection: Connection, wanted: Mapping[int, Ranges]) -> dict[int, SampleObservation]:
    """The attempts with these numbers of each server, by key; raise CorruptBlob when one is missing or damaged."""
    pages = _read_pages(connection, {server: find_page_range(ranges) for server, ranges in wanted.items() if ranges})
    return {server: select_attempts(pages.get(server, {}), ranges) for server, ranges in wanted.items()}


def read_newest_attempts(connection: Connection, wanted: Mapping[int, Sequence[Sample]]) -> dict[int, StoredAttempts]:
    """The newest attempts of each server that has any, back to the oldest wanted one."""
    # An index lookup finds each server's newest page, so the cost does not grow with the number of pages.
    last = select(func.max(ATTEMPTS.c.page)).where(ATTEMPTS.c.server_key == SERVER.c.key).correlate(SERVER)
    query = select(SERVER.c.key, last.scalar_subquery()).where(SERVER.c.key.in_(wanted))
    pages = {server: page for server, page in connection.execute(query) if page is not None}
    found = _newest_pages(connection, pages, {server: len(wanted[server]) // ATTEMPTS_PER_PAGE + 2 for server in pages})
    oldest = {server: min(sample.at for sample in wanted[server]) for server in found}
    short = [server for server, have in found.items() if not have.covers_since(oldest[server])]
    return found | _newest_pages(connection, pages, dict.fromkeys(short, _MAX_PAGES))


def _newest_pages(
    connection: Connection, newest: Mapping[int, int], number: Mapping[int, int]
) -> dict[int, StoredAttempts]:
    """The attempts on the `number` newest pages of each server; `newest` are the page numbers."""
    spans = {server: (max(newest[server] - count + 1, 0), newest[server]) for server, count in number.items()}
    return {
        server: unpack_stored_attempts(min(pages), [pages[page] for page in sorted(pages)])
        for server, pages in _read_pages(connection, spans).items()
    }


def _read_pages(connection: Connection, spans: Mapping[int, tuple[int, int]]) -> dict[int, dict[int, bytes]]:
    """The pages of each server within its span of page numbers; servers with equal spans share a statement."""
    by_span: dict[tuple[int, int], list[int]] = {}
    for server in sorted(spans):
        by_span.setdefault(spans[server], []).append(server)
    found: dict[int, dict[int, bytes]] = {}
    for span, servers in by_span.items():
        for batch in split_batches(servers):
            query = select(ATTEMPTS).where(ATTEMPTS.c.server_key.in_(batch), ATTEMPTS.c.page.between(*span))
            for row in connection.execute(query):
                found.setdefault(row.server_key, {})[row.page] = row.attempts
    return found


def _attempt(row: Json) -> Sample | None:
    """The attempt of a row that equals what `write_samples` writes and that the packed form can hold; else None."""
    match row:
        case [str(time), str(failure), float() | None as cold, float() | None as warm]:
            try:
                at = datetime.fromisoformat(time)
            except ValueError:
                return None
            sample = Sample(at=at, failure=failure, cold_ms=cold, warm_ms=warm)
            is_exact = at.tzinfo is UTC and time == f"{at.isoformat()[:-6]}Z"
            return sample if is_exact and is_storable(sample) else None
    return None
