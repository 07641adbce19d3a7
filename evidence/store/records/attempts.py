"""Every attempt to connect to a server once, however many nights' windows it is in.

A record of kind `samples` states all attempts of 30 days, and the next night's all of them but a few. So the attempts
of a server are numbered as they come, and a visit notes which numbers are its own. How they lie in a page is known to
attempt_pages.py.
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
_LOOKED_BACK: Final = MAX_SAMPLES // ATTEMPTS_PER_PAGE + 2
_NONE: Final = StoredAttempts()


def extract_attempts(observation: Mapping[str, Json]) -> tuple[Sample, ...] | None:
    """The attempts that an observation of `samples` consists of, when it consists of nothing else."""
    if isinstance(observation, SampleObservation):
        return observation.samples or None
    rows = observation.get("samples")
    if len(observation) != 1 or not rows or not isinstance(rows, Sequence):
        return None
    found = [_attempt(row) for row in rows]
    attempts = tuple(attempt for attempt in found if attempt is not None)
    return attempts if len(attempts) == len(found) else None


def store_attempts(connection: Connection, attempts: Mapping[int, Sequence[Sample]]) -> dict[int, Ranges]:
    """Store the attempts of servers, by key, that are not stored yet; the numbers of all of them.

    A server is left out that has an attempt which the packed form does not hold.
    """
    found: dict[int, Ranges] = {}
    for batch in split_batches(sorted(attempts)):
        # Two runs may meet the same server at once; in the order in which pages of a registry write servers.
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
    """The attempts of these numbers of each server, by key; raise CorruptBlob when one is not stored or is damaged."""
    pages = _read_pages(connection, {server: find_page_range(ranges) for server, ranges in wanted.items() if ranges})
    return {server: select_attempts(pages.get(server, {}), ranges) for server, ranges in wanted.items()}


def read_newest_attempts(connection: Connection, wanted: Mapping[int, Sequence[Sample]]) -> dict[int, StoredAttempts]:
    """The newest attempts of each server that has any, as far back as the wanted ones can be."""
    # The newest page by an index for each server: however many there are, none of the others is looked at.
    last = select(func.max(ATTEMPTS.c.page)).where(ATTEMPTS.c.server_key == SERVER.c.key).correlate(SERVER)
    query = select(SERVER.c.key, last.scalar_subquery()).where(SERVER.c.key.in_(wanted))
    pages = {server: page for server, page in connection.execute(query) if page is not None}
    found = _newest_pages(connection, pages, {server: len(wanted[server]) // ATTEMPTS_PER_PAGE + 2 for server in pages})
    oldest = {server: min(sample.at for sample in wanted[server]) for server in found}
    short = [server for server, have in found.items() if not have.covers_since(oldest[server])]
    return found | _newest_pages(connection, pages, dict.fromkeys(short, _LOOKED_BACK))


def _newest_pages(
    connection: Connection, newest: Mapping[int, int], number: Mapping[int, int]
) -> dict[int, StoredAttempts]:
    """The attempts on so many of the newest pages of each server."""
    spans = {server: (max(newest[server] - many + 1, 0), newest[server]) for server, many in number.items()}
    pages = _read_pages(connection, spans)
    return {
        server: unpack_stored_attempts(min(there), [there[page] for page in sorted(there)])
        for server, there in pages.items()
    }


def _read_pages(connection: Connection, spans: Mapping[int, tuple[int, int]]) -> dict[int, dict[int, bytes]]:
    """The pages from a first to a last one of each server, by number; one statement for servers of the same age."""
    alike: dict[tuple[int, int], list[int]] = {}
    for server in sorted(spans):
        alike.setdefault(spans[server], []).append(server)
    found: dict[int, dict[int, bytes]] = {}
    for span, servers in alike.items():
        for batch in split_batches(servers):
            query = select(ATTEMPTS).where(ATTEMPTS.c.server_key.in_(batch), ATTEMPTS.c.page.between(*span))
            for row in connection.execute(query):
                found.setdefault(row.server_key, {})[row.page] = row.attempts
    return found


def _attempt(row: Json) -> Sample | None:
    """The attempt of a row that reads exactly as `write_samples` would write it, and that the packed form holds."""
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
