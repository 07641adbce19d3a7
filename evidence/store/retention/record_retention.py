"""Retention of records: which old runs drop records, and which of them.

One nightly run of each week keeps all its records. The others drop record sets and keep receipts, with the digests of
the evidence behind them. The number of dropped record sets is stored for the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, literal, select

from evidence.model import Trigger
from evidence.store.retention.item_retention import drop_items
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.tables.core import FINDING, RUN, RUN_ITEM, SERVER
from evidence.store.tables.evidence import COMPACTION, RECORD_SET
from evidence.store.values import FINAL_STATES, FindingState, RunState

_COLUMNS: Final = ("run_key", "at", "record_sets", "done")
_DROPPED: Final = select(COMPACTION).join(RUN, RUN.c.key == COMPACTION.c.run_key).where(RUN.c.id == bindparam("run"))
_CLOSED: Final = [FindingState.PUBLIC_DISCLOSED.value, FindingState.DISMISSED.value]


class DroppedRecords(Struct, frozen=True, kw_only=True):
    """What was dropped of a run: the number of record sets, the time of the last drop, and whether it is complete."""

    run: str
    at: datetime
    record_sets: int
    done: bool


def list_runs_to_compact(connection: Connection, before: datetime) -> list[str]:
    """Final runs as of before a moment with records to drop, oldest first; one nightly run of each week is kept."""
    query = select(RUN.c.id, RUN.c.as_of, RUN.c.trigger, RUN.c.state, COMPACTION.c.done).order_by(RUN.c.id)
    query = query.join(COMPACTION, COMPACTION.c.run_key == RUN.c.key, isouter=True).where(RUN.c.state.in_(FINAL_STATES))
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
    """The number of record sets of a run that would be dropped."""
    run = connection.execute(select(RUN.c.key).where(RUN.c.id == run_id)).scalar_one()
    servers = connection.scalars(select(RECORD_SET.c.server_key).where(RECORD_SET.c.run_key == run)).all()
    return sum(len(_droppable(connection, run, batch)) for batch in split_batches(servers))


def drop_records(
    connection: Connection, run_id: str, at: datetime, *, limit: int, after: int = 0
) -> tuple[int, int | None]:
    """Drop record sets among the next `limit` servers with a key above `after`.

    Returns their number and the last key, None at the end. The newest record set of a server is kept, and all of a
    server with a private finding.
    """
    run = connection.execute(select(RUN.c.key).where(RUN.c.id == run_id)).scalar_one()
    servers = select(RECORD_SET.c.server_key).where(RECORD_SET.c.run_key == run, RECORD_SET.c.server_key > after)
    keys = connection.scalars(servers.order_by(RECORD_SET.c.server_key).limit(limit)).all()
    dropped = 0
    for batch in split_batches(keys):
        droppable = _droppable(connection, run, batch)
        connection.execute(
            delete(RECORD_SET).where(RECORD_SET.c.run_key == run, RECORD_SET.c.server_key.in_(droppable))
        )
        drop_items(connection, run, RUN_ITEM.c.server_key.in_(droppable))
        dropped += len(droppable)
    ended = len(keys) < limit
    before = connection.scalar(select(COMPACTION.c.record_sets).where(COMPACTION.c.run_key == run)) or 0
    row = (run, at, before + dropped, ended)
    insert_rows(connection, COMPACTION, _COLUMNS, [row], unique=["run_key"], update=["at", "record_sets", "done"])
    return dropped, None if ended else keys[-1]


def find_dropped_records(connection: Connection, run_id: str) -> DroppedRecords | None:
    """What was dropped of a run; None before `drop_records`."""
    row = connection.execute(_DROPPED, {"run": run_id}).one_or_none()
    return None if row is None else DroppedRecords(run=run_id, at=row.at, record_sets=row.record_sets, done=row.done)


def _droppable(connection: Connection, run: int, servers: Sequence[int]) -> list[int]:
    """The servers whose record set in a run is not their newest, and that have no private finding."""
    recorded = select(RECORD_SET.c.run_key).where(
        RECORD_SET.c.run_key == RUN.c.key, RECORD_SET.c.server_key == SERVER.c.key
    )
    newest = select(RUN.c.key).where(recorded.correlate(RUN, SERVER).scalar_subquery().is_not(None)).correlate(SERVER)
    newest_key = newest.order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    private = select(FINDING.c.key).where(FINDING.c.server_key == SERVER.c.key, FINDING.c.state.not_in(_CLOSED))
    query = select(SERVER.c.key).where(SERVER.c.key.in_(servers), newest_key != literal(run), ~private.exists())
    return list(connection.scalars(query))
