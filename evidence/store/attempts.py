"""Every attempt to connect to a server once, however many nights' windows it is in.

A record of kind `samples` states all attempts of 30 days, and the next night's all of them but a few. So the attempts
of a server are numbered as they come and lie 32 to a page, some 8 bytes each; a visit notes which numbers are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Connection, func, select

from evidence.canonical import Json
from evidence.kinds.samples import FAILURES, MOST, Sample
from evidence.store.bulk import batches, insert
from evidence.store.errors import CorruptBlob
from evidence.store.evidence_models import ATTEMPTS
from evidence.store.models import SERVER
from evidence.store.packing import pack_numbers, runs_of, unpack_numbers, unzigzag, zigzag

Ranges = tuple[tuple[int, int], ...]
"""Numbers of attempts: first one and how many."""

_COLUMNS: Final = ("server_key", "page", "attempts")
_PER_PAGE: Final = 32
_LOOKED_BACK: Final = MOST // _PER_PAGE + 2
_MOST_MS: Final = 1e12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)

# Their places are stored: a new failure is added at the end.
_OUTCOMES: Final = ("", *FAILURES)


def attempts_of(observation: Mapping[str, Json]) -> tuple[Sample, ...] | None:
    """The attempts that an observation of `samples` consists of, when it consists of nothing else."""
    rows = observation.get("samples")
    if len(observation) != 1 or not rows or not isinstance(rows, Sequence):
        return None
    found = [_attempt(row) for row in rows]
    attempts = tuple(attempt for attempt in found if attempt is not None)
    return attempts if len(attempts) == len(found) else None


def number(connection: Connection, attempts: Mapping[int, Sequence[Sample]]) -> dict[int, Ranges]:
    """Store the attempts of servers, by key, that are not stored yet; the numbers of all of them."""
    found: dict[int, Ranges] = {}
    for batch in batches(sorted(attempts)):
        # Two runs may meet the same server at once; in the order in which pages of a registry write servers.
        servers = select(SERVER.c.key).where(SERVER.c.key.in_(batch)).order_by(SERVER.c.id)
        connection.execute(servers.with_for_update(key_share=True))
        known = _newest_pages(connection, batch)
        rows: list[tuple[object, ...]] = []
        for server in batch:
            first, stored = known.get(server, (0, []))
            places = {sample: first + place for place, sample in enumerate(stored)}
            new = [sample for sample in dict.fromkeys(attempts[server]) if sample not in places]
            places |= {sample: first + len(stored) + place for place, sample in enumerate(new)}
            found[server] = tuple(runs_of(places[sample] for sample in attempts[server]))
            if new:
                rows += _pages(server, first, [*stored, *new], since=first + len(stored))
        insert(connection, ATTEMPTS, _COLUMNS, rows, unique=["server_key", "page"], update=["attempts"])
    return found


def read(connection: Connection, wanted: Mapping[int, Ranges]) -> dict[int, list[Sample]]:
    """The attempts of these numbers of each server, by key; raise CorruptBlob when one is not stored."""
    pages: dict[tuple[int, int], list[Sample]] = {}
    for batch in batches(sorted(wanted)):
        numbers = [number for server in batch for first, count in wanted[server] for number in (first, first + count)]
        between = ATTEMPTS.c.page.between(min(numbers, default=0) // _PER_PAGE, max(numbers, default=0) // _PER_PAGE)
        for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.server_key.in_(batch), between)):
            pages[row.server_key, row.page] = unpack(row.attempts)
    try:
        return {
            server: [
                pages[server, each // _PER_PAGE][each % _PER_PAGE]
                for first, count in ranges
                for each in range(first, first + count)
            ]
            for server, ranges in wanted.items()
        }
    except LookupError as error:
        raise CorruptBlob(f"attempts of a server are missing: {error}") from error


def pack(attempts: Iterable[Sample]) -> bytes:
    """Attempts as numbers: seconds since the one before, outcome, tenths of milliseconds and one, 0 where unknown."""
    numbers: list[int] = []
    last = 0
    for sample in attempts:
        at = (sample.at - _EPOCH) // _SECOND
        numbers += [
            zigzag(at - last),
            _OUTCOMES.index(sample.failure),
            _tenths(sample.cold_ms),
            _tenths(sample.warm_ms),
        ]
        last = at
    return pack_numbers(numbers)


def unpack(packed: bytes) -> list[Sample]:
    """The attempts that were packed; raise CorruptBlob on anything else."""
    numbers = unpack_numbers(packed)
    found: list[Sample] = []
    at = 0
    try:
        for passed, outcome, cold, warm in zip(*(iter(numbers),) * 4, strict=True):
            at += unzigzag(passed)
            found.append(
                Sample(
                    at=_EPOCH + at * _SECOND,
                    failure=_OUTCOMES[outcome],
                    cold_ms=_milliseconds(cold),
                    warm_ms=_milliseconds(warm),
                )
            )
    except (ValueError, LookupError, OverflowError) as error:
        raise CorruptBlob(f"attempts of a server cannot be read: {error}") from error
    return found


def _newest_pages(connection: Connection, servers: Sequence[int]) -> dict[int, tuple[int, list[Sample]]]:
    """The attempts on the newest pages of each server that has any, and the number of the first of them."""
    others = ATTEMPTS.alias()
    newest = select(func.max(others.c.page)).where(others.c.server_key == ATTEMPTS.c.server_key).scalar_subquery()
    query = select(ATTEMPTS).where(ATTEMPTS.c.server_key.in_(servers), ATTEMPTS.c.page > newest - _LOOKED_BACK)
    found: dict[int, tuple[int, list[Sample]]] = {}
    for row in connection.execute(query.order_by(ATTEMPTS.c.server_key, ATTEMPTS.c.page)):
        found.setdefault(row.server_key, (row.page * _PER_PAGE, []))[1].extend(unpack(row.attempts))
    return found


def _pages(server: int, first: int, attempts: Sequence[Sample], *, since: int) -> list[tuple[object, ...]]:
    """The rows of the pages on which there are attempts from the number `since` on; `first` is that of the first."""
    start = since // _PER_PAGE
    last = (first + len(attempts) - 1) // _PER_PAGE
    return [
        (server, page, pack(attempts[page * _PER_PAGE - first : (page + 1) * _PER_PAGE - first]))
        for page in range(start, last + 1)
    ]


def _attempt(row: Json) -> Sample | None:
    """The attempt of a row that reads exactly as `write_samples` would write it, and that the packed form holds."""
    match row:
        case [str(time), str(failure), float() | None as cold, float() | None as warm]:
            try:
                at = datetime.fromisoformat(time)
            except ValueError:
                return None
            is_exact = failure in _OUTCOMES and at.tzinfo is UTC and time == f"{at.isoformat()[:-6]}Z"
            is_small = all(value is None or _is_tenths(value) for value in (cold, warm))
            is_storable = is_exact and is_small and at >= _EPOCH
            return Sample(at=at, failure=failure, cold_ms=cold, warm_ms=warm) if is_storable else None
    return None


def _is_tenths(milliseconds: float) -> bool:
    return 0 <= milliseconds < _MOST_MS and _milliseconds(_tenths(milliseconds)) == milliseconds


def _tenths(milliseconds: float | None) -> int:
    return 0 if milliseconds is None else round(milliseconds * 10) + 1


def _milliseconds(tenths: int) -> float | None:
    return None if tenths == 0 else (tenths - 1) / 10
