"""Progress of a run: which servers have passed which stage, and which failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, union, union_all, update

from evidence.model import ServerId
from evidence.store.errors import UnknownServer
from evidence.store.leases.leasing import ALWAYS_DUE, NEVER_DUE, find_lost_leases, item_is_open
from evidence.store.runs.record_counts import count_records
from evidence.store.runs.run_states import plan_position_from_json, plan_position_to_json, set_run_state
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.row_keys import find_known_server_keys, find_run_key, find_server_keys
from evidence.store.tables.core import DROPPED_ITEM, RELEASED_LEASE, RUN, RUN_ITEM, SERVER
from evidence.store.tables.evidence import SCORING
from evidence.store.values import COLLECT_STAGES, LeaseTokens, PlanPosition, RunProgress, RunState, Stage, StageFailure

_COLUMNS = ("run_key", "stage", "server_key", "attempts", "not_before")
_PLANNED = (*_COLUMNS, "carried")
_UNIQUE = ("run_key", "stage", "server_key")

# `done_at` is no condition: of a new run the planner has no statistics, and would read all of its open items.
_STATES: Final = select(RUN_ITEM.c.server_key, RUN_ITEM.c.done_at).where(
    RUN_ITEM.c.run_key == bindparam("run"),
    RUN_ITEM.c.stage == bindparam("stage"),
    matches_any(RUN_ITEM.c.server_key),
)

NO_STAGES: Mapping[ServerId, Stage] = {}
NO_START_TIMES: Mapping[ServerId, datetime] = {}


def move_plan(
    connection: Connection,
    run_id: str,
    at: datetime,
    *,
    before: PlanPosition | None,
    after: PlanPosition | None,
    last: bool,
) -> bool:
    """Move the plan of a run from one position to another; False, and nothing is changed, see `Store.plan_run`."""
    columns = (RUN.c.key, RUN.c.state, RUN.c.plan_position)
    query = select(*columns).where(RUN.c.key == find_run_key(connection, run_id)).with_for_update()
    key, state, position = connection.execute(query).one()
    if state != RunState.DISCOVERING or plan_position_from_json(position) != before:
        return False
    stored = {"plan_position": None if after is None else plan_position_to_json(after)}
    connection.execute(update(RUN).where(RUN.c.key == key).values(stored))
    return not last or set_run_state(connection, run_id, RunState.PLANNED, at)


def add_items(
    connection: Connection,
    run_id: str,
    servers: Sequence[ServerId],
    *,
    first: Mapping[ServerId, Stage],
    starts: Mapping[ServerId, datetime],
    carried: Collection[ServerId],
) -> None:
    """Add the items of servers to a run, see `Store.plan_run`; items that it has stay as they are."""
    key = find_run_key(connection, run_id)
    rows: list[tuple[object, ...]] = []
    for server, number in find_server_keys(connection, servers).items():
        start, is_carried = starts.get(server, ALWAYS_DUE), server in carried
        rows.append((key, Stage.COLLECT.value, number, 0, start, is_carried))
        rows.append((key, Stage.SCORE.value, number, 0, NEVER_DUE, is_carried))
        if server in first and not is_carried:
            rows.append((key, first[server].value, number, 0, start, False))
    insert_rows(connection, RUN_ITEM, _PLANNED, rows, unique=_UNIQUE)


def list_planned_servers(connection: Connection, run_id: str) -> list[ServerId]:
    """Every planned server of a run; sorted. A final run has receipts of its servers and items of the others."""
    run = find_run_key(connection, run_id)
    items = select(RUN_ITEM.c.server_key).where(RUN_ITEM.c.run_key == run, RUN_ITEM.c.stage == Stage.COLLECT.value)
    unscored = select(RUN_ITEM.c.server_key).where(item_is_open(run, Stage.SCORE))
    scored = select(SCORING.c.server_key).where(SCORING.c.run_key == run)
    return sorted(connection.scalars(select(SERVER.c.id).where(SERVER.c.key.in_(union(items, unscored, scored)))))


def list_pending_servers(
    connection: Connection, run_id: str, stage: Stage, servers: Sequence[ServerId] | None = None
) -> list[ServerId]:
    """Planned servers, of the given ones or of all, that have not passed a stage; sorted."""
    run = find_run_key(connection, run_id)
    if servers is None:
        query = select(SERVER.c.id).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
        return sorted(connection.scalars(query.where(item_is_open(run, stage))))
    ids = {key: server for server, key in find_known_server_keys(connection, sorted(servers)).items()}
    found: list[ServerId] = []
    for batch in split_batches(sorted(ids)):
        items = connection.execute(_STATES, {"run": run, "stage": stage.value, KEYS: batch})
        found += [ids[row.server_key] for row in items if row.done_at is None]
    return sorted(found)


def record_failure(
    connection: Connection,
    run_id: str,
    server: ServerId,
    stage: Stage,
    error: str,
    *,
    tokens: LeaseTokens | None = None,
) -> int | None:
    """Count a failed attempt, release the server's lease, and return the number of attempts; raise UnknownServer.

    None, and nothing is counted, when the lease of the server (`tokens`) was lost.
    """
    if find_lost_leases(connection, run_id, stage, tokens and {server: tokens[server]}):
        return None
    keys = find_known_server_keys(connection, [server])
    item = (
        RUN_ITEM.c.run_key == find_run_key(connection, run_id),
        RUN_ITEM.c.stage == stage.value,
        RUN_ITEM.c.server_key == keys.get(server),
    )
    values = {"attempts": RUN_ITEM.c.attempts + 1, "last_error": error, **RELEASED_LEASE}
    attempts: int | None = connection.scalar(
        update(RUN_ITEM).where(*item).values(values).returning(RUN_ITEM.c.attempts)
    )
    if attempts is None:
        raise UnknownServer(f"server {server} is not planned in run {run_id}")
    return attempts


def count_open_servers(connection: Connection, run_id: str, stage: Stage, most: int) -> int:
    """The number of servers that are due in a run and have not passed a stage, counted up to `most`."""
    is_open = (item_is_open(find_run_key(connection, run_id), stage), RUN_ITEM.c.carried.is_(False))
    few = select(RUN_ITEM.c.server_key).where(*is_open).limit(most).subquery()
    return connection.scalar(select(func.count()).select_from(few)) or 0


def list_failures(connection: Connection, run_id: str) -> list[StageFailure]:
    """Servers with failed attempts that have not passed the stage, sorted by id and stage."""
    columns = (SERVER.c.id, RUN_ITEM.c.stage, RUN_ITEM.c.attempts, RUN_ITEM.c.last_error)
    query = select(*columns).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
    tried = (
        RUN_ITEM.c.run_key == find_run_key(connection, run_id),
        RUN_ITEM.c.attempts > 0,
        RUN_ITEM.c.done_at.is_(None),
    )
    return [
        StageFailure(server=server, stage=Stage(stage), attempts=attempts, last_error=error or "")
        for server, stage, attempts, error in connection.execute(
            query.where(*tried).order_by(SERVER.c.id, RUN_ITEM.c.stage)
        )
    ]


def mark_done(connection: Connection, run: int, stage: Stage, servers: Iterable[int], at: datetime) -> None:
    """Mark servers, by key, as having passed a stage; the first time stays.

    A collected server has passed all parts of collecting and may be scored.
    """
    closed = (Stage.COLLECT, *COLLECT_STAGES) if stage is Stage.COLLECT else (stage,)
    for batch in split_batches(sorted(servers)):
        stages = RUN_ITEM.c.stage.in_([part.value for part in closed])
        items = (RUN_ITEM.c.run_key == run, stages, RUN_ITEM.c.done_at.is_(None), RUN_ITEM.c.server_key.in_(batch))
        connection.execute(update(RUN_ITEM).where(*items).values({"done_at": at, **RELEASED_LEASE}))
        if stage is Stage.COLLECT:
            scoring = (item_is_open(run, Stage.SCORE), RUN_ITEM.c.server_key.in_(batch))
            connection.execute(update(RUN_ITEM).where(*scoring).values(not_before=ALWAYS_DUE))


def advance_stage(
    connection: Connection, run: int, stage: Stage, servers: Iterable[int], *, onward: Mapping[int, Stage], at: datetime
) -> None:
    """Mark servers, by key, as having passed a part of collecting, and add their items for the next part.

    A server without a next part is collected. Calling this twice changes nothing.
    """
    passed = set(servers)
    mark_done(connection, run, stage, passed, at)
    tokens = _read_first_tokens(connection, run, onward)
    rows = [(run, part.value, server, 0, ALWAYS_DUE, tokens.get(server, 0)) for server, part in onward.items()]
    insert_rows(connection, RUN_ITEM, (*_COLUMNS, "token"), rows, unique=_UNIQUE)
    if stage is not Stage.COLLECT:
        mark_done(connection, run, Stage.COLLECT, passed - onward.keys(), at)


def _read_first_tokens(connection: Connection, run: int, servers: Iterable[int]) -> dict[int, int]:
    """The tokens that items of later parts begin with: above those of items that the run had before it was reopened."""
    item, found = RUN_ITEM.c, dict[int, int]()
    for batch in split_batches(sorted(servers)):
        of_batch = (item.run_key == run, item.stage == Stage.COLLECT.value, item.server_key.in_(batch))
        found |= dict(connection.execute(select(item.server_key, item.token).where(*of_batch)).all())
    return found


def read_progress(connection: Connection, run_id: str) -> RunProgress:
    key = find_run_key(connection, run_id)
    columns = (RUN_ITEM.c.stage, RUN_ITEM.c.carried, func.count(), func.count(RUN_ITEM.c.done_at))
    items = select(*columns).where(RUN_ITEM.c.run_key == key).group_by(RUN_ITEM.c.stage, RUN_ITEM.c.carried)
    counts = (DROPPED_ITEM.c.stage, DROPPED_ITEM.c.carried, DROPPED_ITEM.c.planned, DROPPED_ITEM.c.done)
    # One statement, so that an item which is being dropped is counted once.
    dropped = select(*counts).where(DROPPED_ITEM.c.run_key == key)
    planned: Counter[tuple[Stage, bool]] = Counter()
    passed: Counter[tuple[Stage, bool]] = Counter()
    for stage, carried, here, done in connection.execute(union_all(items, dropped)):
        planned[Stage(stage), carried] += here
        passed[Stage(stage), carried] += done
    outcomes = count_records(connection, key)
    reached = {Stage.COLLECT, Stage.SCORE, *(stage for stage, _ in planned)}
    return RunProgress(
        planned=planned[Stage.COLLECT, False] + planned[Stage.COLLECT, True],
        done={stage: passed[stage, False] + passed[stage, True] for stage in reached},
        absent={(kind, reason): number for (kind, reason), number in outcomes.items() if reason is not None},
        carried=planned[Stage.COLLECT, True],
        carried_scored=passed[Stage.SCORE, True],
    )
