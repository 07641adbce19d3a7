"""Reopens a withheld run for servers whose evidence is missing because of a failure of our own."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, case, delete, literal, update

from evidence.store.leases.leasing import ALWAYS_DUE, NEVER_DUE
from evidence.store.runs.operator_actions import apply_run_action
from evidence.store.runs.record_counts import read_absences
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_run_key, find_server_keys
from evidence.store.tables.core import RUN_ITEM
from evidence.store.tables.evidence import RECORD_SET, SCORING
from evidence.store.values import RunEvent, Stage

_MOMENT = RUN_ITEM.c.not_before.type
_IS_SCORING = RUN_ITEM.c.stage == Stage.SCORE.value
# Larger than the number of leases of one item in a run, so that a lease from before the reopening stays lost, also that
# of a later part: its item is made again with the token of the server's item for collecting.
_TOKENS = 10_000
_FRESH = {
    "done_at": None,
    "attempts": 0,
    "leases": 0,
    "token": RUN_ITEM.c.token + _TOKENS,
    "last_error": None,
    "not_before": case((_IS_SCORING, literal(NEVER_DUE, _MOMENT)), else_=literal(ALWAYS_DUE, _MOMENT)),
    "carried": False,
}


def reopen_run(connection: Connection, run_id: str, event: RunEvent, *, kind: str, reasons: Collection[str]) -> int:
    """Resume a withheld run; drop its results of servers whose record of a kind is absent for one of the reasons.

    These servers are collected and scored again, and failed scorings are tried again. Returns the number of servers;
    raises IllegalRunChange, for example when the run is published, or UnknownRun.
    """
    apply_run_action(connection, run_id, event)
    run = find_run_key(connection, run_id)
    absent = read_absences(connection, run_id, kind).items()
    failed = find_server_keys(connection, [server for server, why in absent if why.reason.value in reasons])
    for batch in split_batches(sorted(failed.values())):
        for table in (RECORD_SET, SCORING):
            connection.execute(delete(table).where(table.c.run_key == run, table.c.server_key.in_(batch)))
        items = (RUN_ITEM.c.run_key == run, RUN_ITEM.c.server_key.in_(batch))
        later = RUN_ITEM.c.stage.in_([Stage.GITHUB.value, Stage.SCAN.value])
        connection.execute(delete(RUN_ITEM).where(*items, later))
        connection.execute(update(RUN_ITEM).where(*items).values(_FRESH))
    unscored = (RUN_ITEM.c.run_key == run, _IS_SCORING, RUN_ITEM.c.done_at.is_(None))
    connection.execute(update(RUN_ITEM).where(*unscored).values(attempts=0, leases=0))
    return len(failed)
