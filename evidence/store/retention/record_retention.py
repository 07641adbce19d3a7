"""Old nights with less: which ones, and what of their visits goes.

Of every week one night keeps its records. Of the others what the visits were like goes, and with it the records; their
receipts stay, with the digests of all evidence that they rest on. What went is noted for the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, literal, select

from evidence.model import Trigger
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.tables.core import FINDING, RUN, RUN_ITEM, SERVER
from evidence.store.tables.evidence import COMPACTION, VISIT
from evidence.store.values import FindingState, RunState

_COLUMNS: Final = ("run_key", "at", "visits", "done")
_FINAL: Final = [state.value for state in RunState if state.is_final]
_CLOSED: Final = [FindingState.PUBLIC_DISCLOSED.value, FindingState.DISMISSED.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRecords:
    """What was dropped of a run so far: the records of so many visits, the last of them `at`; `done` if no more is."""

    run: str
    at: datetime
    visits: int
    done: bool


def list_runs_to_compact(connection: Connection, before: datetime) -> list[str]:
    """Runs over since before a moment that keep less, oldest first: all but the first published night of each week."""
    query = select(RUN.c.id, RUN.c.as_of, RUN.c.trigger, RUN.c.state, COMPACTION.c.done).order_by(RUN.c.id)
    query = query.join(COMPACTION, COMPACTION.c.run_key == RUN.c.key, isouter=True).where(RUN.c.state.in_(_FINAL))
    kept: set[tuple[int, int]] = set()
    found: list[str] = []
    for run, as_of, trigger, state, done in connection.execute(query):
        year, week, _ = as_of.isocalendar()
        is_night = trigger == Trigger.NIGHTLY.value and state == RunState.PUBLISHED.value
        if is_night and (year, week) not in kept:
            kept.add((year, week))
        elif as_of < before and not done:
            found.append(run)
    return found


def count_droppable(connection: Connection, run_id: str) -> int:
    """How many visits of a run would be dropped."""
    run = connection.execute(select(RUN.c.key).where(RUN.c.id == run_id)).scalar_one()
    servers = connection.scalars(select(VISIT.c.server_key).where(VISIT.c.run_key == run)).all()
    return sum(len(_droppable(connection, run, batch)) for batch in split_batches(servers))


def drop_records(connection: Connection, run_id: str, at: datetime, limit: int, after: int) -> tuple[int, int | None]:
    """Drop visits among the next `limit` servers with a key above `after`: how many, and the last key, None at the end.

    Kept are the visits of servers with a private finding, and the newest one of each server.
    """
    run = connection.execute(select(RUN.c.key).where(RUN.c.id == run_id)).scalar_one()
    servers = select(VISIT.c.server_key).where(VISIT.c.run_key == run, VISIT.c.server_key > after)
    keys = connection.scalars(servers.order_by(VISIT.c.server_key).limit(limit)).all()
    dropped = 0
    for batch in split_batches(keys):
        droppable = _droppable(connection, run, batch)
        for table in (VISIT, RUN_ITEM):
            connection.execute(delete(table).where(table.c.run_key == run, table.c.server_key.in_(droppable)))
        dropped += len(droppable)
    ended = len(keys) < limit
    before = connection.scalar(select(COMPACTION.c.visits).where(COMPACTION.c.run_key == run)) or 0
    row = (run, at, before + dropped, ended)
    insert_rows(connection, COMPACTION, _COLUMNS, [row], unique=["run_key"], update=["at", "visits", "done"])
    return dropped, None if ended else keys[-1]


def find_dropped_records(connection: Connection, run_id: str) -> DroppedRecords | None:
    """What was dropped of a run, None when nothing was looked for."""
    query = select(COMPACTION).join(RUN, RUN.c.key == COMPACTION.c.run_key).where(RUN.c.id == run_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else DroppedRecords(run=run_id, at=row.at, visits=row.visits, done=row.done)


def _droppable(connection: Connection, run: int, servers: Sequence[int]) -> list[int]:
    """Those of the servers whose visit in a run is not their newest, and who have no private finding."""
    visited = select(VISIT.c.run_key).where(VISIT.c.run_key == RUN.c.key, VISIT.c.server_key == SERVER.c.key)
    newest = select(RUN.c.key).where(visited.correlate(RUN, SERVER).scalar_subquery().is_not(None)).correlate(SERVER)
    newest_key = newest.order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    private = select(FINDING.c.key).where(FINDING.c.server_key == SERVER.c.key, FINDING.c.state.not_in(_CLOSED))
    query = select(SERVER.c.key).where(SERVER.c.key.in_(servers), newest_key != literal(run), ~private.exists())
    return list(connection.scalars(query))
