"""Drops items of final runs and keeps their counts. Open items stay, and which servers were carried."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, or_, select

from evidence.store.sql.bulk_insert import insert_rows
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import DROPPED_ITEM, RUN, RUN_ITEM
from evidence.store.values import FINAL_STATES, Stage

_UNIQUE: Final = ("run_key", "stage", "carried")
_COUNTS: Final = ("planned", "done", "attempts")
_IS_DONE: Final = RUN_ITEM.c.done_at.is_not(None)
_IS_UNNEEDED: Final = and_(_IS_DONE, or_(RUN_ITEM.c.stage != Stage.COLLECT.value, RUN_ITEM.c.carried.is_(False)))


def list_runs_with_done_items(connection: Connection) -> list[str]:
    """Final runs with items that `drop_done_items` drops, oldest first."""
    unneeded = select(RUN_ITEM.c.stage).where(RUN_ITEM.c.run_key == RUN.c.key, _IS_UNNEEDED).correlate(RUN)
    return list(
        connection.scalars(select(RUN.c.id).where(RUN.c.state.in_(FINAL_STATES), unneeded.exists()).order_by(RUN.c.id))
    )


def drop_done_items(connection: Connection, run_id: str, stage: Stage, *, limit: int, after: int = 0) -> int | None:
    """Drop done items of a stage among the next `limit` servers with a key above `after`.

    Returns the last key, None at the end. Items of carried servers stay in the stage `collect`.
    """
    run, server = find_run_key(connection, run_id), RUN_ITEM.c.server_key
    following = (RUN_ITEM.c.stage == stage.value, server > after)
    query = select(server).where(RUN_ITEM.c.run_key == run, *following).order_by(server).offset(limit - 1).limit(1)
    last: int | None = connection.scalar(query)
    part = following if last is None else (*following, server <= last)
    drop_items(connection, run, *part, _IS_UNNEEDED)
    return last


def drop_items(connection: Connection, run: int, *which: ColumnElement[bool]) -> None:
    """Drop items of a run, by its key, and add them to its counts."""
    # One process at a time adds to the counts of a run.
    connection.execute(select(RUN.c.key).where(RUN.c.key == run).with_for_update(key_share=True))
    columns = (RUN_ITEM.c.stage, RUN_ITEM.c.carried, _IS_DONE, RUN_ITEM.c.attempts)
    dropped = delete(RUN_ITEM).where(RUN_ITEM.c.run_key == run, *which).returning(*columns)
    known = select(DROPPED_ITEM).where(DROPPED_ITEM.c.run_key == run)
    counts = {(row.stage, row.carried): [row.planned, row.done, row.attempts] for row in connection.execute(known)}
    for stage, carried, done, attempts in connection.execute(dropped):
        count = counts.setdefault((stage, carried), [0, 0, 0])
        count[0] += 1
        count[1] += done
        count[2] += attempts
    rows = [(run, *part, *count) for part, count in counts.items()]
    insert_rows(connection, DROPPED_ITEM, (*_UNIQUE, *_COUNTS), rows, unique=_UNIQUE, update=_COUNTS)
