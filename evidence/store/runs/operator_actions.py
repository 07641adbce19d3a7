"""Actions of operators on a run, and its trail of them: who, what, when and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, insert, select, update

from evidence.store.errors import IllegalRunChange
from evidence.store.runs.run_states import find_run, put_snapshot, set_run_state
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import PUBLICATION_PART, RELEASED_LEASE, RUN, RUN_EVENT, RUN_ITEM
from evidence.store.values import RunAction, RunEvent, RunRow, RunState

_LEADS_TO: Final[Mapping[RunAction, RunState]] = {
    RunAction.PAUSED: RunState.PAUSED,
    RunAction.RESUMED: RunState.PLANNED,
    RunAction.REOPENED: RunState.PLANNED,
    RunAction.WITHHELD: RunState.WITHHELD,
    RunAction.PUBLISHED: RunState.PUBLISHED,
    RunAction.CANCELLED: RunState.CANCELLED,
}

_AFTER: Final[Mapping[RunAction, frozenset[RunState]]] = {
    RunAction.RESUMED: frozenset({RunState.PAUSED}),
    RunAction.REOPENED: frozenset({RunState.WITHHELD}),
}


def apply_run_action(connection: Connection, run_id: str, event: RunEvent) -> RunRow:
    """Pause, resume, withhold or end a run, with an entry in its trail; raise IllegalRunChange or UnknownRun.

    A run that was paused before it was planned resumes discovery. A run that ends releases its leases.
    """
    key = find_run_key(connection, run_id)
    before = find_run(connection, run_id)
    assert before is not None
    to = _LEADS_TO.get(event.what, before.state)
    if event.what is RunAction.RESUMED and before.planned_at is None:
        to = RunState.DISCOVERING
    allowed = before.state in _AFTER.get(event.what, frozenset(RunState))
    if event.what in _LEADS_TO and not (allowed and set_run_state(connection, run_id, to, event.at, event.note)):
        raise IllegalRunChange(describe_refusal(run_id, before.state, event.what))
    _put_event(connection, key, event)
    if to.is_final:
        held = (RUN_ITEM.c.run_key == key, RUN_ITEM.c.leased_by.is_not(None))
        connection.execute(update(RUN_ITEM).where(*held).values(RELEASED_LEASE))
    after = find_run(connection, run_id)
    assert after is not None
    return after


def read_run_events(connection: Connection, run_id: str) -> list[RunEvent]:
    """The trail of a run, oldest first."""
    query = select(RUN_EVENT).where(RUN_EVENT.c.run_key == find_run_key(connection, run_id)).order_by(RUN_EVENT.c.key)
    return [
        RunEvent(at=row.at, who=row.who, what=RunAction(row.what), note=row.note) for row in connection.execute(query)
    ]


def publish_run(
    connection: Connection,
    run_id: str,
    manifest: bytes,
    at: datetime,
    by: RunEvent | None = None,
    *,
    edition: int | None = None,
) -> bool:
    """Store a run's manifest and mark it published, unless it was stopped meanwhile; return whether it was published.

    With `edition` it is published only while it has the parts that wrote this edition of the listing index: a run that
    was stopped and resumed since has other evidence. `by` is the trail entry of the operator who publishes the run;
    with it, a stopped run raises IllegalRunChange.
    """
    connection.execute(select(RUN.c.key).where(RUN.c.id == run_id).with_for_update())
    row = find_run(connection, run_id)
    if edition is not None and row is not None and RunState.PUBLISHED in row.state.next:
        written = select(PUBLICATION_PART.c.number).where(PUBLICATION_PART.c.edition == edition)
        of_run = PUBLICATION_PART.c.run_key == find_run_key(connection, run_id)
        if connection.execute(written.where(of_run).limit(1)).first() is None:
            return False
    if not set_run_state(connection, run_id, RunState.PUBLISHED, at, by.note if by else ""):
        if by is not None and row is not None:
            raise IllegalRunChange(describe_refusal(run_id, row.state, by.what))
        return False
    put_snapshot(connection, run_id, manifest, at)
    if by is not None:
        _put_event(connection, find_run_key(connection, run_id), by)
    return True


def read_database_time(connection: Connection, otherwise: datetime) -> datetime:
    """The time of PostgreSQL, which all workers share; on SQLite, which serves one machine, `otherwise`."""
    if connection.dialect.name == "sqlite":
        return otherwise
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(otherwise.tzinfo)


def _put_event(connection: Connection, run: int, event: RunEvent) -> None:
    row = {"run_key": run, "at": event.at, "who": event.who, "what": event.what.value, "note": event.note}
    connection.execute(insert(RUN_EVENT).values(row))


def describe_refusal(run_id: str, state: RunState, what: RunAction) -> str:
    """Why an action is not possible in a state, and what an operator can do."""
    hints = {
        RunState.PAUSED: "it is paused: resume or cancel it",
        RunState.WITHHELD: "it is withheld: `hallmark night show` says why; resume it, publish it anyway or cancel it",
        RunState.DISCOVERING: "it is not planned yet: pause or cancel it",
        RunState.PLANNED: "it is under way: pause, publish or cancel it",
    }
    hint = hints.get(state, f"it is {state.value}, which is final")
    return f"run {run_id} cannot be {what.value}: {hint}"
