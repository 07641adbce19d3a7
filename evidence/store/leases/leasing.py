"""Who works on which server of a run, until when, and what became of those who never said how it ended.

Times are the database's own on PostgreSQL, so that machines need not agree on them. SQLite has one process, whose
clock is given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Connection, and_, func, or_, select, update
from sqlalchemy.sql import ColumnElement

from evidence.model import ServerId
from evidence.store.runs.operator_actions import read_database_time
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_known_server_keys, find_run_key, find_server_keys
from evidence.store.tables.core import IS_LEASED_OUT, RUN, RUN_ITEM, SERVER
from evidence.store.tables.lease_release import RELEASED_LEASE
from evidence.store.values import COLLECT_STAGES, RunState, Stage

ALWAYS_DUE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""When an item may be handed out that waits for nothing: before any clock."""

NEVER_DUE: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""When a server may be scored that is not collected yet."""

_YOUNG: Final = 2 / 3
"""The share of its time that a lease still has when it need not be renewed yet; holders ask thrice in that time."""

MAX_TRIES: Final = 3
"""How often an item is handed out without an end, or its scoring fails, before it is left alone."""


def lease_servers(
    connection: Connection,
    run_id: str,
    stage: Stage,
    worker: str,
    *,
    limit: int,
    ttl: timedelta,
    now: datetime,
    tried: int,
) -> list[ServerId]:
    """Lease up to `limit` open servers without a lease that were leased `tried` times without a result; sorted.

    Those whose time came first go first. Nothing is handed out of a run that is paused, withheld or over.
    """
    key, moment = find_run_key(connection, run_id), read_database_time(connection, now)
    if connection.scalar(select(RUN.c.state).where(RUN.c.key == key)) != RunState.PLANNED:
        return []
    free = and_(_is_due(key, stage, moment), RUN_ITEM.c.leases == tried, _is_not_of(worker))
    # In the order of `ix_run_item_waiting`, so that it ends with the last one that is taken, however many wait.
    query = (
        select(RUN_ITEM.c.server_key).where(free).order_by(RUN_ITEM.c.not_before, RUN_ITEM.c.server_key).limit(limit)
    )
    # SQLite has no row locks and needs none: this transaction is its only writer.
    taken = list(connection.scalars(query.with_for_update(skip_locked=True, of=RUN_ITEM)))
    values = {"leased_by": worker, "leased_until": moment + ttl, "leases": RUN_ITEM.c.leases + 1}
    ids: list[ServerId] = []
    for batch in split_batches(taken):
        item = (RUN_ITEM.c.run_key == key, RUN_ITEM.c.stage == stage.value, RUN_ITEM.c.server_key.in_(batch))
        connection.execute(update(RUN_ITEM).where(*item).values(values))
        ids.extend(connection.scalars(select(SERVER.c.id).where(SERVER.c.key.in_(batch))))
    return sorted(ids)


def renew_leases(
    connection: Connection,
    run_id: str,
    stage: Stage,
    worker: str,
    servers: Collection[ServerId],
    *,
    ttl: timedelta,
    now: datetime,
) -> list[ServerId]:
    """Hold for longer what a worker still holds of these servers, and which those are; young leases stay as they are.

    Servers are named because an index over holders would cost every lease more than this costs once a minute.
    """
    run, moment = find_run_key(connection, run_id), read_database_time(connection, now)
    keys = {key: server for server, key in find_known_server_keys(connection, sorted(servers)).items()}
    held: list[ServerId] = []
    # Done items have no lease. As a condition here it would select the index of open items instead of these keys.
    mine = and_(RUN_ITEM.c.run_key == run, RUN_ITEM.c.stage == stage.value, RUN_ITEM.c.leased_by == worker)
    is_old = (RUN_ITEM.c.leased_until < moment + ttl * _YOUNG).label("is_old")
    for batch in split_batches(sorted(keys)):
        query = select(RUN_ITEM.c.server_key, is_old).where(mine, RUN_ITEM.c.server_key.in_(batch))
        found = connection.execute(query).all()
        held += [keys[row.server_key] for row in found]
        if old := sorted(row.server_key for row in found if row.is_old):
            items = (mine, RUN_ITEM.c.server_key.in_(old))
            connection.execute(update(RUN_ITEM).where(*items).values(leased_until=moment + ttl))
    return held


def release_leases(connection: Connection, run_id: str, stage: Stage, worker: str) -> None:
    """Give back every lease of a worker."""
    held = (IS_LEASED_OUT, item_is_open(find_run_key(connection, run_id), stage), RUN_ITEM.c.leased_by == worker)
    connection.execute(update(RUN_ITEM).where(*held).values(RELEASED_LEASE))


def postpone_servers(
    connection: Connection,
    run_id: str,
    stage: Stage,
    servers: Sequence[ServerId],
    *,
    delay: timedelta,
    why: str,
    most: int,
    now: datetime,
) -> list[ServerId]:
    """Give back servers until `delay` has passed, except those that were put back `most` times; those given back."""
    keys = {key: server for server, key in find_server_keys(connection, servers).items()}
    after = read_database_time(connection, now) + delay
    values = {"attempts": RUN_ITEM.c.attempts + 1, "last_error": why, "not_before": after, **RELEASED_LEASE}
    back: list[ServerId] = []
    for batch in split_batches(sorted(keys)):
        items = and_(item_is_open(find_run_key(connection, run_id), stage), RUN_ITEM.c.server_key.in_(batch))
        changed = update(RUN_ITEM).where(items, RUN_ITEM.c.attempts < most).values(values)
        back.extend(keys[key] for key in connection.scalars(changed.returning(RUN_ITEM.c.server_key)))
    return sorted(back)


def list_crash_suspects(connection: Connection, run_id: str, stage: Stage, now: datetime, tries: int) -> list[ServerId]:
    """Open servers without a lease that were leased so often without a result; sorted."""
    free = _is_free(read_database_time(connection, now))
    worn = (IS_LEASED_OUT, item_is_open(find_run_key(connection, run_id), stage), free, RUN_ITEM.c.leases >= tries)
    query = select(SERVER.c.id).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key).where(*worn)
    return sorted(connection.scalars(query))


def list_lease_holders(connection: Connection, run_id: str) -> list[str]:
    """Who holds servers of a run, in any stage."""
    held = (IS_LEASED_OUT, RUN_ITEM.c.run_key == find_run_key(connection, run_id), RUN_ITEM.c.leased_by.is_not(None))
    return list(connection.scalars(select(RUN_ITEM.c.leased_by).where(*held).distinct()))


def release_expired_leases(
    connection: Connection, run_id: str, now: datetime, limit: int, gone: Collection[str] = ()
) -> dict[Stage, int]:
    """Free open servers whose holders did not renew their leases, still counted as handed out; how many by stage.

    So are those of holders that are `gone`. At most `limit` of them, those first whose leases ended first. What
    somebody is changing just now is left to him.
    """
    key = find_run_key(connection, run_id)
    is_over = RUN_ITEM.c.leased_until <= read_database_time(connection, now)
    if gone:
        is_over = or_(is_over, RUN_ITEM.c.leased_by.in_(gone))
    ended = (IS_LEASED_OUT, RUN_ITEM.c.run_key == key, is_over)
    query = select(RUN_ITEM.c.stage, RUN_ITEM.c.server_key).where(*ended).order_by(RUN_ITEM.c.leased_until).limit(limit)
    found: dict[str, list[int]] = {}
    for stage, server in connection.execute(query.with_for_update(skip_locked=True)):
        found.setdefault(stage, []).append(server)
    for stage, servers in found.items():
        for batch in split_batches(servers):
            items = (RUN_ITEM.c.run_key == key, RUN_ITEM.c.stage == stage, RUN_ITEM.c.server_key.in_(batch))
            connection.execute(update(RUN_ITEM).where(*items).values(leased_by=None, leased_until=None))
    return {Stage(stage): len(servers) for stage, servers in found.items()}


def count_due_servers(connection: Connection, run_id: str, now: datetime, most: int) -> dict[Stage, int]:
    """How many servers could be leased now, or be set aside, by part and for scoring, counted up to `most`."""
    key, moment = find_run_key(connection, run_id), read_database_time(connection, now)
    found = {}
    for stage in (*COLLECT_STAGES, Stage.SCORE):
        some = select(RUN_ITEM.c.server_key).where(_is_due(key, stage, moment)).limit(most).subquery()
        number = connection.scalar(select(func.count()).select_from(some))
        if number:
            found[stage] = number
    return found


def item_is_open(run: int, stage: Stage) -> ColumnElement[bool]:
    """An item of a stage that is not done."""
    return (RUN_ITEM.c.run_key == run) & (RUN_ITEM.c.stage == stage.value) & RUN_ITEM.c.done_at.is_(None)


def _is_due(run: int, stage: Stage, moment: datetime) -> ColumnElement[bool]:
    ready = and_(item_is_open(run, stage), RUN_ITEM.c.not_before <= moment, _is_free(moment))
    if stage is not Stage.SCORE:
        return ready
    return and_(ready, RUN_ITEM.c.attempts < MAX_TRIES, RUN_ITEM.c.leases < MAX_TRIES)


def _is_free(moment: datetime) -> ColumnElement[bool]:
    return or_(RUN_ITEM.c.leased_until.is_(None), RUN_ITEM.c.leased_until <= moment)


def _is_not_of(worker: str) -> ColumnElement[bool]:
    """What a worker holds although its lease has ended is on its way there."""
    return or_(RUN_ITEM.c.leased_by.is_(None), RUN_ITEM.c.leased_by != worker)
