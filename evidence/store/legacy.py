"""Nights that were written before 0007, copied to today's tables in short transactions, as often as asked.

The older tables stay as they are until a later migration drops them: a process of the older version that is still at
work finishes its run on them, and what it writes is copied when its run is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import Connection, Row, Table, select, update

from evidence.model import Absent, Reason
from evidence.store.blobs import unpack
from evidence.store.evidence_models import OLD_RECORD, OLD_SCORECARD, SCORING, VISIT
from evidence.store.keys import server_ids
from evidence.store.mapping import to_object
from evidence.store.models import RUN
from evidence.store.notes import Note
from evidence.store.rows import RunState, StoredCard
from evidence.store.scorecards import put_cards
from evidence.store.shapes import Part
from evidence.store.visits import Entry, put_entries

_SERVERS: Final = 200
"""So many are copied in one transaction."""

_COPIED: Final = 1
_FINAL: Final = [state.value for state in RunState if state.is_final]


def is_waiting(connection: Connection) -> bool:
    """Whether there is a run of which something may have to be copied."""
    return connection.scalar(select(RUN.c.key).where(RUN.c.layout < _COPIED).limit(1)) is not None


def copy_some(connection: Connection) -> bool:
    """Copy a part of what is not copied yet, oldest runs first; False when there was nothing more to copy."""
    waiting = select(RUN.c.key, RUN.c.as_of, RUN.c.state).where(RUN.c.layout < _COPIED).order_by(RUN.c.key)
    for run, as_of, state in connection.execute(waiting).all():
        records = _rows(connection, OLD_RECORD, VISIT, run)
        cards = _rows(connection, OLD_SCORECARD, SCORING, run) if not records else []
        if records:
            visits: dict[int, dict[str, Entry]] = {}
            for row in records:
                visits.setdefault(row.server_key, {})[row.kind] = _entry(row)
            put_entries(connection, run, as_of, visits)
        if cards:
            put_cards(connection, run, _cards(connection, cards))
        if records or cards:
            return True
        if state in _FINAL:
            connection.execute(update(RUN).where(RUN.c.key == run).values(layout=_COPIED))
    return False


def _rows(connection: Connection, old: Table, new: Table, run: int) -> list[Row[Any]]:
    """The older rows of some servers of a run that have none in the table of today."""
    copied = select(new.c.run_key).where(new.c.run_key == old.c.run_key, new.c.server_key == old.c.server_key)
    servers = select(old.c.server_key).where(old.c.run_key == run, ~copied.exists()).distinct().limit(_SERVERS)
    keys = connection.scalars(servers).all()
    return list(connection.execute(select(old).where(old.c.run_key == run, old.c.server_key.in_(keys))))


def _entry(row: Row[Any]) -> Entry:
    absent = None if row.reason is None else Absent(Reason(row.reason), row.detail or "")
    part = Part(row.kind, row.schema, row.collector, row.collector_version, absent)
    return Entry(part, row.blob_key, Note(row.observed_at, to_object(row.observation)))


def _cards(connection: Connection, rows: Sequence[Row[Any]]) -> dict[int, list[StoredCard]]:
    ids = server_ids(connection, {row.server_key for row in rows})
    found: dict[int, list[StoredCard]] = {}
    for row in rows:
        name = f"scorecard {ids[row.server_key]} {row.rubric}@{row.version}"
        card = StoredCard(
            server=ids[row.server_key],
            rubric=row.rubric,
            version=row.version,
            score=None if row.score is None else Decimal(row.score),
            grade=row.grade,
            body=unpack(row.codec, row.size, row.body, name=name),
        )
        found.setdefault(row.server_key, []).append(card)
    return found
