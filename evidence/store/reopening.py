"""Giving a run that is not published another try at servers whose evidence is missing through a failure of ours."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, case, delete, literal, update

from evidence.store.bulk import batches
from evidence.store.evidence_models import SCORING, VISIT
from evidence.store.keys import run_key, server_keys
from evidence.store.leasing import ALWAYS, NEVER
from evidence.store.models import RUN_ITEM
from evidence.store.outcomes import read_absences
from evidence.store.rows import Stage

_MOMENT = RUN_ITEM.c.not_before.type
_IS_SCORING = RUN_ITEM.c.stage == Stage.SCORE.value
_FRESH = {
    "done_at": None,
    "attempts": 0,
    "leases": 0,
    "last_error": None,
    "not_before": case(
        (RUN_ITEM.c.stage == Stage.SCORE.value, literal(NEVER, _MOMENT)), else_=literal(ALWAYS, _MOMENT)
    ),
    "carried": False,
}


def reopen(connection: Connection, run_id: str, kind: str, reasons: Collection[str]) -> int:
    """Forget in this run the servers whose record of a kind is absent for one of the reasons; how many those are.

    They are collected and scored as if it were the first time. What was scored in vain is tried again as well. Of a run
    that is published nothing may be forgotten: callers see to it that its state allows this.
    """
    run = run_key(connection, run_id)
    absent = read_absences(connection, run_id, kind).items()
    failed = server_keys(connection, [server for server, why in absent if why.reason.value in reasons])
    for batch in batches(sorted(failed.values())):
        for table in (VISIT, SCORING):
            connection.execute(delete(table).where(table.c.run_key == run, table.c.server_key.in_(batch)))
        items = (RUN_ITEM.c.run_key == run, RUN_ITEM.c.server_key.in_(batch))
        later = RUN_ITEM.c.stage.in_([Stage.GITHUB.value, Stage.SCAN.value])
        connection.execute(delete(RUN_ITEM).where(*items, later))
        connection.execute(update(RUN_ITEM).where(*items).values(_FRESH))
    unscored = (RUN_ITEM.c.run_key == run, RUN_ITEM.c.stage == Stage.SCORE.value, RUN_ITEM.c.done_at.is_(None))
    connection.execute(update(RUN_ITEM).where(*unscored).values(attempts=0, leases=0))
    return len(failed)
