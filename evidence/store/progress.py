"""Which servers of a run have passed which stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select, union, update
from sqlalchemy.sql import ColumnElement

from evidence.model import ServerId
from evidence.store.bulk import batches, insert
from evidence.store.errors import UnknownServer
from evidence.store.evidence_models import COMPACTION, SCORING
from evidence.store.giving_back import GIVEN_BACK
from evidence.store.keys import known_server_keys, run_key, server_keys
from evidence.store.leasing import ALWAYS, NEVER, is_open
from evidence.store.models import RUN, RUN_ITEM, SERVER
from evidence.store.outcomes import count_outcomes
from evidence.store.rows import PARTS, Failure, Progress, RunState, Stage
from evidence.store.runs import set_state

_COLUMNS = ("run_key", "stage", "server_key", "attempts", "not_before")
_PLANNED = (*_COLUMNS, "carried")
_UNIQUE = ("run_key", "stage", "server_key")


def plan(
    connection: Connection,
    run_id: str,
    servers: Sequence[ServerId],
    at: datetime,
    *,
    first: Mapping[ServerId, Stage],
    starts: Mapping[ServerId, datetime],
    carried: Collection[ServerId],
) -> bool:
    """Fix the servers of a run, and whether it was this that did: a planned run keeps its plan.

    `first` are parts of collecting that servers begin with, `starts` the times before which they are not collected.
    """
    query = select(RUN.c.key, RUN.c.state).where(RUN.c.key == run_key(connection, run_id)).with_for_update()
    key, state = connection.execute(query).one()
    if state != RunState.DISCOVERING:
        return False
    rows: list[tuple[object, ...]] = []
    for server, number in server_keys(connection, servers).items():
        start, is_carried = starts.get(server, ALWAYS), server in carried
        rows.append((key, Stage.COLLECT.value, number, 0, start, is_carried))
        rows.append((key, Stage.SCORE.value, number, 0, NEVER, is_carried))
        if server in first and not is_carried:
            rows.append((key, first[server].value, number, 0, start, False))
    insert(connection, RUN_ITEM, _PLANNED, rows, unique=_UNIQUE)
    return set_state(connection, run_id, RunState.PLANNED, at)


def planned(connection: Connection, run_id: str) -> list[ServerId]:
    """Every planned server, whatever has become of it; sorted. Of an old night's some are known by receipts alone."""
    run = run_key(connection, run_id)
    items = select(RUN_ITEM.c.server_key).where(RUN_ITEM.c.run_key == run, RUN_ITEM.c.stage == Stage.COLLECT.value)
    scored = select(SCORING.c.server_key).where(SCORING.c.run_key == run)
    return sorted(connection.scalars(select(SERVER.c.id).where(SERVER.c.key.in_(union(items, scored)))))


def pending(connection: Connection, run_id: str, stage: Stage, servers: Sequence[ServerId] | None) -> list[ServerId]:
    """Planned servers, all or some, that have not passed a stage; sorted."""
    query = (
        select(SERVER.c.id)
        .join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
        .where(is_open(run_key(connection, run_id), stage))
    )
    if servers is None:
        return sorted(connection.scalars(query))
    found: set[ServerId] = set()
    for batch in batches(servers):
        found.update(connection.scalars(query.where(SERVER.c.id.in_(batch))))
    return sorted(found)


def fail(connection: Connection, run_id: str, server: ServerId, stage: Stage, error: str) -> int:
    """Count a failed attempt, give the server back, and return the number of attempts so far."""
    keys = known_server_keys(connection, [server])
    item = (
        RUN_ITEM.c.run_key == run_key(connection, run_id),
        RUN_ITEM.c.stage == stage.value,
        RUN_ITEM.c.server_key == keys.get(server),
    )
    values = {"attempts": RUN_ITEM.c.attempts + 1, "last_error": error, **GIVEN_BACK}
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
    """Mark servers, by key, as having passed a stage; the first time stays.

    Who is collected has passed the parts of collecting, and may be scored.
    """
    closed = (Stage.COLLECT, *PARTS) if stage is Stage.COLLECT else (stage,)
    for batch in batches(sorted(servers)):
        items = (_open_in(run, closed), RUN_ITEM.c.server_key.in_(batch))
        connection.execute(update(RUN_ITEM).where(*items).values({"done_at": at, **GIVEN_BACK}))
        if stage is Stage.COLLECT:
            scoring = (is_open(run, Stage.SCORE), RUN_ITEM.c.server_key.in_(batch))
            connection.execute(update(RUN_ITEM).where(*scoring).values(not_before=ALWAYS))


def pass_on(
    connection: Connection,
    run: int,
    stage: Stage,
    servers: Iterable[int],
    *,
    onward: Mapping[int, Stage],
    at: datetime,
) -> None:
    """Mark servers, by key, as having passed a part, and offer them to the next one; those without one are collected.

    Whoever works on an item that was taken over says the same as who took it over, so saying it twice changes nothing.
    """
    passed = set(servers)
    mark_done(connection, run, stage, passed, at)
    rows = [(run, part.value, server, 0, ALWAYS) for server, part in onward.items()]
    insert(connection, RUN_ITEM, _COLUMNS, rows, unique=_UNIQUE)
    if stage is not Stage.COLLECT:
        mark_done(connection, run, Stage.COLLECT, passed - onward.keys(), at)


def progress(connection: Connection, run_id: str) -> Progress:
    """Counts of a run."""
    key = run_key(connection, run_id)
    count = func.count()
    columns = (RUN_ITEM.c.stage, RUN_ITEM.c.carried, count, func.count(RUN_ITEM.c.done_at))
    items = select(*columns).where(RUN_ITEM.c.run_key == key).group_by(RUN_ITEM.c.stage, RUN_ITEM.c.carried)
    counts = {(Stage(stage), carried): (here, done) for stage, carried, here, done in connection.execute(items)}
    done = Counter({Stage.COLLECT: 0, Stage.SCORE: 0})
    for (stage, _), (_, passed) in counts.items():
        done[stage] += passed
    outcomes = count_outcomes(connection, key)
    thinned = connection.scalar(select(COMPACTION.c.visits).where(COMPACTION.c.run_key == key)) or 0
    if thinned:
        done[Stage.COLLECT] += thinned
        done[Stage.SCORE] = connection.scalar(select(count).where(SCORING.c.run_key == key)) or 0
    return Progress(
        planned=sum(here for (stage, _), (here, _) in counts.items() if stage is Stage.COLLECT) + thinned,
        done=dict(done),
        absent={(kind, reason): number for (kind, reason), number in outcomes.items() if reason is not None},
        carried=counts.get((Stage.COLLECT, True), (0, 0))[0],
        carried_scored=counts.get((Stage.SCORE, True), (0, 0))[1],
    )


def _open_in(run: int, stages: Collection[Stage]) -> ColumnElement[bool]:
    named = RUN_ITEM.c.stage.in_([stage.value for stage in stages])
    return (RUN_ITEM.c.run_key == run) & named & RUN_ITEM.c.done_at.is_(None)
