"""Runs, their states and their manifests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec.structs import asdict
from sqlalchemy import Connection, Row, bindparam, delete, func, literal, select, update

from evidence.canonical import Json
from evidence.model import Run, Trigger
from evidence.store.errors import UnknownRun
from evidence.store.sql.bulk_insert import insert_rows
from evidence.store.sql.json_columns import from_json, object_from_json, to_json
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import PUBLICATION_PART, RUN, SNAPSHOT
from evidence.store.values import FINAL_STATES, PlanPosition, RunRow, RunState

_COLUMNS = ("id", "trigger", "as_of", "pins", "options", "state")
_BY_ID = select(RUN).where(RUN.c.id == bindparam("id"))


def add_run(connection: Connection, run: Run, *, options: Mapping[str, Json] | None = None) -> None:
    """Add a run in state `discovering`; a stored run with its id stays unchanged."""
    texts = (to_json(run.pins), to_json(options or {}))
    row = (run.id, run.trigger.value, run.as_of, *texts, RunState.DISCOVERING.value)
    insert_rows(connection, RUN, _COLUMNS, [row], unique=["id"])


def find_run(connection: Connection, run_id: str) -> RunRow | None:
    row = connection.execute(_BY_ID, {"id": run_id}).one_or_none()
    return None if row is None else run_from_row(row)


def list_runs(
    connection: Connection, limit: int = 20, *, triggers: Collection[Trigger] = tuple(Trigger)
) -> list[RunRow]:
    """Runs with one of the triggers, newest first; ids sort by time."""
    query = select(RUN).where(RUN.c.trigger.in_([trigger.value for trigger in triggers]))
    return [run_from_row(row) for row in connection.execute(query.order_by(RUN.c.id.desc()).limit(limit))]


def list_published(connection: Connection) -> list[RunRow]:
    """Published runs other than re-tests, newest first."""
    query = select(RUN).where(RUN.c.state == RunState.PUBLISHED.value, RUN.c.trigger != Trigger.RETEST.value)
    return [run_from_row(row) for row in connection.execute(query.order_by(RUN.c.id.desc()))]


def list_unfinished_runs(connection: Connection, trigger: Trigger) -> list[RunRow]:
    """Every run of a trigger whose state is not final, newest first."""
    query = select(RUN).where(RUN.c.trigger == trigger.value, RUN.c.state.not_in(FINAL_STATES))
    return [run_from_row(row) for row in connection.execute(query.order_by(RUN.c.id.desc()))]


def set_run_state(connection: Connection, run_id: str, state: RunState, at: datetime, note: str = "") -> bool:
    """Move a run to a state that may follow its own; return whether it was moved. Raise UnknownRun.

    A task that is delivered twice or late therefore neither reopens a published run nor resumes a paused one. The parts
    of a publication that was begun in the old state are dropped.
    """
    values: dict[str, object] = {"state": state.value, "note": note or None, "reviews_until": None}
    if state is RunState.PLANNED:
        values["planned_at"] = func.coalesce(RUN.c.planned_at, literal(at, RUN.c.planned_at.type))
    if state is RunState.PUBLISHED:
        values["published_at"] = at
        values["reviews_until"] = func.coalesce(RUN.c.reviews_until, literal(at, RUN.c.reviews_until.type))
    before = [one.value for one in RunState if state in one.next]
    changed = connection.execute(update(RUN).where(RUN.c.id == run_id, RUN.c.state.in_(before)).values(values))
    if not changed.rowcount and find_run(connection, run_id) is None:
        raise UnknownRun(f"no run {run_id} in this store")
    if changed.rowcount:
        connection.execute(
            delete(PUBLICATION_PART).where(PUBLICATION_PART.c.run_key == find_run_key(connection, run_id))
        )
    return bool(changed.rowcount)


def put_snapshot(connection: Connection, run_id: str, manifest: bytes, at: datetime) -> None:
    """Store the manifest of a published run; the first one stays."""
    row = (find_run_key(connection, run_id), manifest, at)
    insert_rows(connection, SNAPSHOT, ("run_key", "manifest", "at"), [row], unique=["run_key"])


def find_snapshot(connection: Connection, run_id: str) -> bytes | None:
    """The manifest of a run; None before it is published."""
    manifest: bytes | None = connection.scalar(
        select(SNAPSHOT.c.manifest).where(SNAPSHOT.c.run_key == find_run_key(connection, run_id))
    )
    return manifest


def run_from_row(row: Row[tuple[object, ...]]) -> RunRow:
    run = Run(id=row.id, trigger=Trigger(row.trigger), as_of=row.as_of, pins=from_json(row.pins))
    return RunRow(
        run=run,
        state=RunState(row.state),
        options=object_from_json(row.options),
        planned_at=row.planned_at,
        published_at=row.published_at,
        reviews_until=row.reviews_until,
        note=row.note or "",
        plan_position=plan_position_from_json(row.plan_position),
    )


def plan_position_to_json(position: PlanPosition) -> str:
    return to_json(asdict(position) | {"began": position.began.isoformat()})


def plan_position_from_json(stored: str | None) -> PlanPosition | None:
    if stored is None:
        return None
    members = object_from_json(stored)
    return PlanPosition(**{**members, "began": datetime.fromisoformat(str(members["began"]))})  # type: ignore[arg-type]
