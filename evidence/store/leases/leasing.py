"""Leases of a run's servers to workers: granting, renewal, release, expiry, and servers that crash their workers.

Every lease has a token, which grows with each lease of the item. What a holder writes names its tokens; what names a
token that is no longer the newest is refused, because the item has been leased again since (docs/decisions/0027).

On PostgreSQL times are the database's own, so that the clocks of machines need not agree. On SQLite, which serves one
machine, the caller's `now` is used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, bindparam, case, func, or_, select, update
from sqlalchemy.sql import ColumnElement

from evidence.model import ServerId
from evidence.store.runs.operator_actions import read_database_time
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.row_keys import find_known_server_keys, find_run_key, find_server_ids, find_server_keys
from evidence.store.tables.core import IS_LEASED_OUT, PUBLICATION_PART, RELEASED_LEASE, RUN, RUN_ITEM, SERVER
from evidence.store.values import COLLECT_STAGES, LeaseTokens, RunState, Stage

ALWAYS_DUE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""`not_before` of an item that may be leased at any time."""

NEVER_DUE: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""`not_before` of the score item of a server that is not collected yet."""

_YOUNG: Final = 2 / 3
"""A lease with more than this share of its time left is not renewed; holders call three times within its time."""

# By key: of a new run the planner has no statistics, and would join all of its items with the servers.
_TOKENS: Final = (
    select(RUN_ITEM.c.server_key, RUN_ITEM.c.token)
    .where(
        RUN_ITEM.c.run_key == bindparam("run"),
        RUN_ITEM.c.stage == bindparam("stage"),
        matches_any(RUN_ITEM.c.server_key),
    )
    .order_by(RUN_ITEM.c.server_key)
)

_IS_BEING_PUBLISHED: Final = (
    select(PUBLICATION_PART.c.number).where(PUBLICATION_PART.c.run_key == RUN.c.key).correlate(RUN).exists()
)

_TOKENS_BEFORE_PUBLICATION: Final = _TOKENS.where(
    ~select(PUBLICATION_PART.c.number).where(PUBLICATION_PART.c.run_key == RUN_ITEM.c.run_key).exists()
)

MAX_TRIES: Final = 3
"""How often an item is leased without a result, or its scoring fails, before it is no longer leased."""


def lease_servers(
    connection: Connection,
    run_id: str,
    stage: Stage,
    worker: str,
    *,
    limit: int,
    ttl: timedelta,
    now: datetime,
    tried: int = 0,
) -> dict[ServerId, int]:
    """Lease for `ttl` up to `limit` open servers that were leased `tried` times without a result.

    Returns the tokens of the leases, sorted by server. The earliest `not_before` comes first. The score stage leases
    collected servers whose scoring failed less than MAX_TRIES times. A run that is paused, withheld, over or being
    published leases none.
    """
    key, moment = find_run_key(connection, run_id), read_database_time(connection, now)
    if connection.scalar(select(RUN.c.state).where(RUN.c.key == key, ~_IS_BEING_PUBLISHED)) != RunState.PLANNED:
        return {}
    free = and_(_is_due(key, stage, moment), RUN_ITEM.c.leases == tried, _is_not_of(worker))
    # In the order of `ix_run_item_waiting`, so that it ends with the last one that is taken, however many wait.
    query = (
        select(RUN_ITEM.c.server_key).where(free).order_by(RUN_ITEM.c.not_before, RUN_ITEM.c.server_key).limit(limit)
    )
    # SQLite has no row locks and needs none: this transaction is its only writer.
    taken = list(connection.scalars(query.with_for_update(skip_locked=True, of=RUN_ITEM)))
    values = {
        "leased_by": worker,
        "leased_until": moment + ttl,
        "leases": RUN_ITEM.c.leases + 1,
        "token": RUN_ITEM.c.token + 1,
    }
    ids = find_server_ids(connection, taken)
    tokens: dict[ServerId, int] = {}
    for batch in split_batches(taken):
        item = (RUN_ITEM.c.run_key == key, RUN_ITEM.c.stage == stage.value, RUN_ITEM.c.server_key.in_(batch))
        leased = update(RUN_ITEM).where(*item).values(values).returning(RUN_ITEM.c.server_key, RUN_ITEM.c.token)
        tokens |= {ids[server]: token for server, token in connection.execute(leased)}
    return dict(sorted(tokens.items()))


def find_lost_leases(
    connection: Connection, run_id: str, stage: Stage, tokens: LeaseTokens | None
) -> frozenset[ServerId]:
    """The servers whose item was leased again after the lease that `tokens` names.

    The items stay locked until the transaction ends, so that the others are not leased again before. None names no
    lease: the caller is the only process that writes the items, so nothing is lost.
    """
    if not tokens:
        return frozenset()
    newest = _read_tokens(connection, _TOKENS.with_for_update(of=RUN_ITEM), run_id, stage, tokens)
    return frozenset(server for server, token in tokens.items() if newest.get(server) != token)


def read_tokens(connection: Connection, run_id: str, stage: Stage, servers: Collection[ServerId]) -> LeaseTokens:
    """The newest tokens of items, for a process that writes them without a lease.

    Several such processes may write the same. Once the publication of the run has begun there are no tokens, and
    earlier ones are refused.
    """
    return _read_tokens(connection, _TOKENS_BEFORE_PUBLICATION, run_id, stage, servers)


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
    """Extend a worker's leases of these servers to `ttl` from now; return the servers whose lease it still holds.

    Young leases stay unchanged. The caller names the servers because an index over holders would cost every lease more
    than this query costs once a minute.
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
            items = and_(mine, RUN_ITEM.c.server_key.in_(old))
            _lock_items(connection, items)
            connection.execute(update(RUN_ITEM).where(items).values(leased_until=moment + ttl))
    return held


def excuse_expiry(
    connection: Connection, run_id: str, stage: Stage, worker: str, servers: Collection[ServerId], *, now: datetime
) -> None:
    """Do not count that leases of a worker expired: it lives, so no server crashed it.

    Servers that the worker has finished or postponed stay as they are, and the lease of another holder stays counted.
    A crash suspect gets a new token, so that what was decided from `list_crash_suspects` before is refused.
    """
    run, moment = find_run_key(connection, run_id), read_database_time(connection, now)
    keys = find_known_server_keys(connection, sorted(servers)).values()
    is_other = or_(RUN_ITEM.c.leased_by.is_(None), RUN_ITEM.c.leased_by != worker)
    is_counted = RUN_ITEM.c.leases > case((RUN_ITEM.c.leased_by.is_(None), 0), else_=1)
    expired = and_(item_is_open(run, stage), RUN_ITEM.c.not_before <= moment, is_other, is_counted)
    is_suspect = and_(RUN_ITEM.c.leases >= MAX_TRIES, _is_free(moment))
    token = case((is_suspect, RUN_ITEM.c.token + 1), else_=RUN_ITEM.c.token)
    for batch in split_batches(sorted(keys)):
        items = and_(expired, RUN_ITEM.c.server_key.in_(batch))
        _lock_items(connection, items)
        connection.execute(update(RUN_ITEM).where(items).values(leases=RUN_ITEM.c.leases - 1, token=token))


def release_leases(connection: Connection, run_id: str, stage: Stage, worker: str) -> None:
    """Release every lease of a worker, as if the servers had not been leased."""
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
    tokens: LeaseTokens | None = None,
) -> list[ServerId]:
    """Release servers and lease them again only after `delay`; return those servers.

    A server that was postponed `most` times stays leased. One whose lease (`tokens`, also of other servers) was lost
    stays as it is.
    """
    named = {server: tokens[server] for server in servers if server in tokens} if tokens else None
    held = set(servers) - find_lost_leases(connection, run_id, stage, named)
    keys = {key: server for server, key in find_server_keys(connection, held).items()}
    after = read_database_time(connection, now) + delay
    values = {"attempts": RUN_ITEM.c.attempts + 1, "last_error": why, "not_before": after, **RELEASED_LEASE}
    back: list[ServerId] = []
    for batch in split_batches(sorted(keys)):
        items = and_(item_is_open(find_run_key(connection, run_id), stage), RUN_ITEM.c.server_key.in_(batch))
        changed = update(RUN_ITEM).where(items, RUN_ITEM.c.attempts < most).values(values)
        back.extend(keys[key] for key in connection.scalars(changed.returning(RUN_ITEM.c.server_key)))
    return sorted(back)


def list_crash_suspects(
    connection: Connection, run_id: str, stage: Stage, now: datetime, *, tries: int = MAX_TRIES
) -> dict[ServerId, int]:
    """Open servers without a lease that were leased `tries` times without a result: their workers died.

    Returns the tokens of their last leases, sorted by server.
    """
    free = _is_free(read_database_time(connection, now))
    worn = (IS_LEASED_OUT, item_is_open(find_run_key(connection, run_id), stage), free, RUN_ITEM.c.leases >= tries)
    query = select(SERVER.c.id, RUN_ITEM.c.token).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key).where(*worn)
    return dict(sorted((server, token) for server, token in connection.execute(query)))


def list_lease_holders(connection: Connection, run_id: str) -> list[str]:
    """The workers that hold leases of a run's servers, in any stage."""
    held = (IS_LEASED_OUT, RUN_ITEM.c.run_key == find_run_key(connection, run_id), RUN_ITEM.c.leased_by.is_not(None))
    return list(connection.scalars(select(RUN_ITEM.c.leased_by).where(*held).distinct()))


def release_expired_leases(
    connection: Connection, run_id: str, now: datetime, limit: int, gone: Collection[str] = ()
) -> dict[Stage, int]:
    """Release up to `limit` leases that expired or whose holders are `gone`; the number by stage.

    The earliest expiry comes first. `leases` still counts them. Rows locked by other transactions are skipped.
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


def count_due_servers(connection: Connection, run_id: str, now: datetime, *, most: int = 10_000) -> Mapping[Stage, int]:
    """The number of servers that are due now, by stage, counted up to `most`; stages without any are left out."""
    key, moment = find_run_key(connection, run_id), read_database_time(connection, now)
    found = {}
    for stage in (*COLLECT_STAGES, Stage.SCORE):
        due = select(RUN_ITEM.c.server_key).where(_is_due(key, stage, moment)).limit(most).subquery()
        if number := connection.scalar(select(func.count()).select_from(due)):
            found[stage] = number
    return found


def item_is_open(run: int, stage: Stage) -> ColumnElement[bool]:
    return (RUN_ITEM.c.run_key == run) & (RUN_ITEM.c.stage == stage.value) & RUN_ITEM.c.done_at.is_(None)


def _read_tokens(
    connection: Connection, query: Select[Any], run_id: str, stage: Stage, servers: Collection[ServerId]
) -> dict[ServerId, int]:
    run, newest = find_run_key(connection, run_id), dict[ServerId, int]()
    ids = {key: server for server, key in find_known_server_keys(connection, sorted(servers)).items()}
    for batch in split_batches(sorted(ids)):
        found = connection.execute(query, {"run": run, "stage": stage.value, KEYS: batch})
        newest |= {ids[key]: token for key, token in found}
    return newest


def _lock_items(connection: Connection, items: ColumnElement[bool]) -> None:
    """Lock items in the order of their servers, as writers of results do, so that the two cannot deadlock."""
    query = select(RUN_ITEM.c.server_key).where(items).order_by(RUN_ITEM.c.server_key)
    connection.execute(query.with_for_update()).all()


def _is_due(run: int, stage: Stage, moment: datetime) -> ColumnElement[bool]:
    ready = and_(item_is_open(run, stage), RUN_ITEM.c.not_before <= moment, _is_free(moment))
    if stage is not Stage.SCORE:
        return ready
    return and_(ready, RUN_ITEM.c.attempts < MAX_TRIES, RUN_ITEM.c.leases < MAX_TRIES)


def _is_free(moment: datetime) -> ColumnElement[bool]:
    return or_(RUN_ITEM.c.leased_until.is_(None), RUN_ITEM.c.leased_until <= moment)


def _is_not_of(worker: str) -> ColumnElement[bool]:
    """A worker is not leased a server again whose expired lease it still holds: it may be about to report."""
    return or_(RUN_ITEM.c.leased_by.is_(None), RUN_ITEM.c.leased_by != worker)
