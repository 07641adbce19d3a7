"""Requests for re-tests: at most one open request per server, with ordered states."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, Integer, Row, bindparam, func, select, text, update

from evidence.model import ServerId
from evidence.store.errors import UnknownRetest
from evidence.store.runs import full_probes
from evidence.store.runs.run_states import run_from_row
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.row_keys import find_run_key, find_server_keys
from evidence.store.tables.core import RETEST, RUN, SERVER
from evidence.store.tables.evidence import SCORING
from evidence.store.transactions import DatabaseAccess, read_method, write_method

_REQUESTS: Final = 7_340_032_119
"""The advisory lock for adding requests on PostgreSQL; SQLite has one writer."""

_COLUMNS: Final = ("id", "server_key", "client", "asked_at", "state")
_TIMES: Final = ("asked_at", "admitted_at", "finished_at", "previous_admitted_at")
_FIELDS: Final = ("id", "server", "client", "reason", "run", "before", *_TIMES)

_RUN_OF, _BEFORE, _OTHER = RUN.alias("run_of"), RUN.alias("before"), RETEST.alias("other")
_LAST: Final = (
    select(func.max(_OTHER.c.admitted_at))
    .where(_OTHER.c.server_key == RETEST.c.server_key, _OTHER.c.key < RETEST.c.key)
    .correlate(RETEST)
)
_QUERY: Final = (
    select(
        RETEST,
        SERVER.c.id.label("server"),
        _RUN_OF.c.id.label("run"),
        _BEFORE.c.id.label("before"),
        _LAST.scalar_subquery().label("previous_admitted_at"),
    )
    .join(SERVER, SERVER.c.key == RETEST.c.server_key)
    .join(_RUN_OF, _RUN_OF.c.key == RETEST.c.run_key, isouter=True)
    .join(_BEFORE, _BEFORE.c.key == RETEST.c.before_key, isouter=True)
)
_NEWEST: Final = _QUERY.order_by(RETEST.c.asked_at.desc(), RETEST.c.key.desc()).limit(bindparam("limit", type_=Integer))
_NEWEST_OF: Final = _NEWEST.where(SERVER.c.id == bindparam("id"))


class RetestState(StrEnum):
    """The state of a request. Done and failed are final; failed is a failure of our own, not of the server."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_OPEN: Final = (RetestState.WAITING.value, RetestState.RUNNING.value)


class Retest(Struct, frozen=True, kw_only=True):
    """One request. `client` is a digest of the client; `before` is the run that the result is compared with.

    `previous_admitted_at` is when the previous re-test of the server was admitted, None without one.
    """

    id: str
    server: ServerId
    client: str
    asked_at: datetime
    state: RetestState = RetestState.WAITING
    reason: str | None = None
    run: str | None = None
    before: str | None = None
    admitted_at: datetime | None = None
    finished_at: datetime | None = None
    previous_admitted_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.state.value in _OPEN


class ClientLimit(Struct, frozen=True):
    """The maximum of requests of one client since a moment."""

    requests: int
    since: datetime


def request_retest(connection: Connection, request: Retest, limit: ClientLimit | None = None) -> Retest | None:
    """Store a request and return it, or return the open request of its server; None when the limit is reached."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _REQUESTS})
    key = find_server_keys(connection, [request.server])[request.server]
    known = connection.execute(_QUERY.where(RETEST.c.server_key == key, RETEST.c.state.in_(_OPEN))).first()
    if known is not None:
        return _retest(known)
    if limit is not None and _count_requests(connection, request.client, limit.since) >= limit.requests:
        return None
    row = (request.id, key, request.client, request.asked_at, RetestState.WAITING.value)
    insert_rows(connection, RETEST, _COLUMNS, [row], unique=["id"])
    return find_retest(connection, request.id)


def reassign_request(connection: Connection, retest: str, client: str) -> bool:
    """Count a waiting request as that of another client; False when it no longer waits."""
    waiting = (RETEST.c.id == retest, RETEST.c.state == RetestState.WAITING.value)
    return bool(connection.execute(update(RETEST).where(*waiting).values(client=client)).rowcount)


def admit_retest(connection: Connection, retest: str, run: str, at: datetime) -> bool:
    """Assign a waiting request its run and the run to compare with; False when it no longer waits."""
    server = connection.scalar(select(RETEST.c.server_key).where(RETEST.c.id == retest))
    if server is None:
        raise UnknownRetest(f"no re-test {retest} in this store")
    values = {
        "state": RetestState.RUNNING.value,
        "run_key": find_run_key(connection, run),
        "before_key": _find_scored_before(connection, server, run),
        "admitted_at": at,
    }
    changed = connection.execute(
        update(RETEST).where(RETEST.c.id == retest, RETEST.c.state == RetestState.WAITING.value).values(values)
    )
    return bool(changed.rowcount)


def requeue_retest(connection: Connection, retest: str, run: str) -> bool:
    """Return an admitted request to `waiting` and remove its run; False when it has another run."""
    held = (
        RETEST.c.id == retest,
        RETEST.c.state == RetestState.RUNNING.value,
        RETEST.c.run_key == find_run_key(connection, run),
    )
    values = {"state": RetestState.WAITING.value, "run_key": None, "before_key": None, "admitted_at": None}
    return bool(connection.execute(update(RETEST).where(*held).values(values)).rowcount)


def finish_retest(
    connection: Connection, retest: str, state: RetestState, at: datetime, reason: str | None = None
) -> bool:
    """Move an open request to a final state; False when its state is final."""
    values = {"state": state.value, "reason": reason, "finished_at": at}
    changed = connection.execute(update(RETEST).where(RETEST.c.id == retest, RETEST.c.state.in_(_OPEN)).values(values))
    return bool(changed.rowcount)


def find_retest(connection: Connection, retest: str) -> Retest | None:
    row = connection.execute(_QUERY.where(RETEST.c.id == retest)).first()
    return None if row is None else _retest(row)


def list_unfinished_retests(connection: Connection) -> list[Retest]:
    """Open requests, oldest first."""
    query = _QUERY.where(RETEST.c.state.in_(_OPEN)).order_by(RETEST.c.asked_at, RETEST.c.key)
    return [_retest(row) for row in connection.execute(query)]


def list_retests(connection: Connection, limit: int = 20, server: ServerId | None = None) -> list[Retest]:
    """Requests of all servers or one, newest first."""
    newest, of = (_NEWEST, {}) if server is None else (_NEWEST_OF, {"id": server})
    return [_retest(row) for row in connection.execute(newest, {"limit": limit, **of})]


def find_newest_finished_retests(
    connection: Connection, run_id: str, servers: Sequence[int], since: datetime
) -> dict[int, int]:
    """For each server the run of its newest finished re-test before a run, as of `since` or later; all by key.

    The full probe after a re-test counts as a re-test.
    """
    found: dict[int, tuple[str, int]] = {}
    for server, run, key in full_probes.list_finished_probes(connection, run_id, servers, since):
        found[server] = max(found.get(server, ("", 0)), (run, key))
    for batch in split_batches(servers):
        query = select(RETEST.c.server_key, RUN.c.id, RUN.c.key).join(RUN, RUN.c.key == RETEST.c.run_key)
        done = (
            RETEST.c.server_key.in_(batch),
            RETEST.c.state == RetestState.DONE.value,
            RUN.c.id < run_id,
            RUN.c.as_of >= since,
        )
        for server, run, key in connection.execute(query.where(*done)):
            found[server] = max(found.get(server, ("", 0)), (run, key))
    return {server: key for server, (_, key) in found.items()}


def _count_requests(connection: Connection, client: str, since: datetime) -> int:
    query = select(func.count()).select_from(RETEST).where(RETEST.c.client == client, RETEST.c.asked_at > since)
    return connection.scalar(query) or 0


def _find_scored_before(connection: Connection, server: int, run: str) -> int | None:
    """The newest run before this one that scored a server under all rubrics."""
    scored = select(SCORING.c.run_key).where(SCORING.c.run_key == RUN.c.key, SCORING.c.server_key == server)
    query = select(RUN).where(RUN.c.id < run, scored.correlate(RUN).exists())
    rows = connection.execute(query.order_by(RUN.c.id.desc()))
    return next((row.key for row in rows if not run_from_row(row).is_partial), None)


def _retest(row: Row[tuple[object, ...]]) -> Retest:
    known = {name: getattr(row, name) for name in _FIELDS}
    return Retest(state=RetestState(row.state), **known)


class Retests(DatabaseAccess):
    """The requests for re-tests of one database; each method is one transaction."""

    request_retest = write_method(request_retest)
    reassign_request = write_method(reassign_request)
    admit_retest = write_method(admit_retest)
    requeue_retest = write_method(requeue_retest)
    finish_retest = write_method(finish_retest)
    find_retest = read_method(find_retest)
    list_unfinished_retests = read_method(list_unfinished_retests)
    list_retests = read_method(list_retests)
