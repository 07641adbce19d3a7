"""Which servers of a run have passed which stage, and who works on the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, or_, select, update
from sqlalchemy.sql import ColumnElement

from evidence.model import ServerId
from evidence.store.bulk import batches, insert
from evidence.store.errors import UnknownServer
from evidence.store.keys import known_server_keys, run_key, server_keys
from evidence.store.models import RECORD, RUN, RUN_ITEM, SERVER
from evidence.store.rows import Failure, Progress, RunState, Stage
from evidence.store.runs import set_state

_FREE = {"leased_by": None, "leased_until": None}


def plan(connection: Connection, run_id: str, servers: Sequence[ServerId], at: datetime) -> None:
    """Fix the servers of a run. A run that is planned already keeps its plan."""
    query = select(RUN.c.key, RUN.c.state).where(RUN.c.key == run_key(connection, run_id)).with_for_update()
    key, state = connection.execute(query).one()
    if state != RunState.DISCOVERING:
        return
    keys = server_keys(connection, servers)
    rows = [(key, stage.value, server, 0) for server in keys.values() for stage in Stage]
    columns = ("run_key", "stage", "server_key", "attempts")
    insert(connection, RUN_ITEM, columns, rows, unique=["run_key", "stage", "server_key"])
    set_state(connection, run_id, RunState.PLANNED, at)


def planned(connection: Connection, run_id: str) -> list[ServerId]:
    """Every planned server, whatever has become of it; sorted."""
    query = (
        select(SERVER.c.id)
        .join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
        .where(RUN_ITEM.c.run_key == run_key(connection, run_id), RUN_ITEM.c.stage == Stage.COLLECT.value)
    )
    return sorted(connection.scalars(query))


def pending(connection: Connection, run_id: str, stage: Stage, servers: Sequence[ServerId] | None) -> list[ServerId]:
    """Planned servers, all or some, that have not passed a stage; sorted."""
    query = (
        select(SERVER.c.id)
        .join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
        .where(_open(run_key(connection, run_id), stage))
    )
    if servers is None:
        return sorted(connection.scalars(query))
    found: set[ServerId] = set()
    for batch in batches(servers):
        found.update(connection.scalars(query.where(SERVER.c.id.in_(batch))))
    return sorted(found)


def lease(
    connection: Connection, run_id: str, stage: Stage, worker: str, *, limit: int, now: datetime, until: datetime
) -> list[ServerId]:
    """Take up to `limit` open servers that nobody holds, or whose lease has expired; sorted."""
    key = run_key(connection, run_id)
    free = or_(RUN_ITEM.c.leased_until.is_(None), RUN_ITEM.c.leased_until <= now)
    query = select(RUN_ITEM.c.server_key).where(_open(key, stage), free).order_by(RUN_ITEM.c.server_key).limit(limit)
    # SQLite has no row locks and needs none: this transaction is its only writer.
    taken = list(connection.scalars(query.with_for_update(skip_locked=True)))
    ids: list[ServerId] = []
    for batch in batches(taken):
        item = (RUN_ITEM.c.run_key == key, RUN_ITEM.c.stage == stage.value, RUN_ITEM.c.server_key.in_(batch))
        connection.execute(update(RUN_ITEM).where(*item).values(leased_by=worker, leased_until=until))
        ids.extend(connection.scalars(select(SERVER.c.id).where(SERVER.c.key.in_(batch))))
    return sorted(ids)


def release(connection: Connection, run_id: str, stage: Stage, worker: str) -> None:
    """Give back every lease of a worker."""
    held = (_open(run_key(connection, run_id), stage), RUN_ITEM.c.leased_by == worker)
    connection.execute(update(RUN_ITEM).where(*held).values(_FREE))


def fail(connection: Connection, run_id: str, server: ServerId, stage: Stage, error: str) -> int:
    """Count a failed attempt, give the server back, and return the number of attempts so far."""
    keys = known_server_keys(connection, [server])
    item = (
        RUN_ITEM.c.run_key == run_key(connection, run_id),
        RUN_ITEM.c.stage == stage.value,
        RUN_ITEM.c.server_key == keys.get(server),
    )
    values = {"attempts": RUN_ITEM.c.attempts + 1, "last_error": error} | _FREE
    attempts: int | None = connection.scalar(
        update(RUN_ITEM).where(*item).values(values).returning(RUN_ITEM.c.attempts)
    )
    if attempts is None:
        raise UnknownServer(f"server {server} is not planned in run {run_id}")
    return attempts


def failures(connection: Connection, run_id: str) -> list[Failure]:
    """Servers whose attempts have failed and that are not done, sorted by id and stage."""
    columns = (SERVER.c.id, RUN_ITEM.c.stage, RUN_ITEM.c.attempts, RUN_ITEM.c.last_error)
    query = select(*columns).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
    tried = (RUN_ITEM.c.run_key == run_key(connection, run_id), RUN_ITEM.c.attempts > 0, RUN_ITEM.c.done_at.is_(None))
    return [
        Failure(server=server, stage=Stage(stage), attempts=attempts, last_error=error or "")
        for server, stage, attempts, error in connection.execute(
            query.where(*tried).order_by(SERVER.c.id, RUN_ITEM.c.stage)
        )
    ]


def mark_done(connection: Connection, run: int, stage: Stage, servers: Iterable[int], at: datetime) -> None:
    """Mark servers, by key, as having passed a stage; the first time stays."""
    for batch in batches(sorted(servers)):
        items = (_open(run, stage), RUN_ITEM.c.server_key.in_(batch))
        connection.execute(update(RUN_ITEM).where(*items).values({"done_at": at} | _FREE))


def progress(connection: Connection, run_id: str) -> Progress:
    """Counts of a run."""
    key = run_key(connection, run_id)
    count = func.count()
    items = select(RUN_ITEM.c.stage, count, func.count(RUN_ITEM.c.done_at)).where(RUN_ITEM.c.run_key == key)
    stages = {
        Stage(stage): (planned, done) for stage, planned, done in connection.execute(items.group_by(RUN_ITEM.c.stage))
    }
    absences = select(RECORD.c.kind, RECORD.c.reason, count).where(
        RECORD.c.run_key == key, RECORD.c.reason.is_not(None)
    )
    absent = connection.execute(absences.group_by(RECORD.c.kind, RECORD.c.reason))
    return Progress(
        planned=stages.get(Stage.COLLECT, (0, 0))[0],
        done={stage: stages.get(stage, (0, 0))[1] for stage in Stage},
        absent={(kind, reason): number for kind, reason, number in absent},
    )


def _open(run: int, stage: Stage) -> ColumnElement[bool]:
    return (RUN_ITEM.c.run_key == run) & (RUN_ITEM.c.stage == stage.value) & RUN_ITEM.c.done_at.is_(None)
