"""Requests to look at a server again: one open request per server, and each state follows from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, Integer, Row, bindparam, func, select, text, update

from evidence.model import ServerId
from evidence.store.database import Database
from evidence.store.errors import UnknownRetest
from evidence.store.runs import full_probes
from evidence.store.runs.run_states import run_from_row
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.row_keys import find_run_key, find_server_keys
from evidence.store.tables.core import RETEST, RUN, SERVER
from evidence.store.tables.evidence import SCORING

_REQUESTS: Final = 7_340_032_119
"""Lock under which requests are taken on PostgreSQL; SQLite has one writer anyway."""

_COLUMNS: Final = ("id", "server_key", "client", "asked_at", "state")

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
        _LAST.scalar_subquery().label("visited_at"),
    )
    .join(SERVER, SERVER.c.key == RETEST.c.server_key)
    .join(_RUN_OF, _RUN_OF.c.key == RETEST.c.run_key, isouter=True)
    .join(_BEFORE, _BEFORE.c.key == RETEST.c.before_key, isouter=True)
)
_NEWEST: Final = _QUERY.order_by(RETEST.c.asked_at.desc(), RETEST.c.key.desc()).limit(bindparam("limit", type_=Integer))
_NEWEST_OF: Final = _NEWEST.where(SERVER.c.id == bindparam("id"))


class RetestState(StrEnum):
    """How far a request has come. Done and failed are final; failed is our own failure and says nothing of a server."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_OPEN: Final = (RetestState.WAITING.value, RetestState.RUNNING.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retest:
    """One request. `client` is a digest of who asked; `before` is the run that the result is compared with.

    `visited_at` is when the last re-test of the server before this one was admitted, None without one.
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
    visited_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """True while something is still to happen."""
        return self.state.value in _OPEN


@dataclass(frozen=True, slots=True)
class ClientLimit:
    """At most so many requests of one client since a moment."""

    requests: int
    since: datetime


class Retests:
    """The requests of one database; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def request_retest(self, request: Retest, limit: ClientLimit | None = None) -> Retest | None:
        """Store a request and return it, or the open one that its server has; None when the client had enough."""
        with self._database.writing() as connection:
            return request_retest(connection, request, limit)

    def reassign_request(self, retest: str, client: str) -> bool:
        """Raise the priority of a waiting request; False when it no longer waits."""
        waiting = (RETEST.c.id == retest, RETEST.c.state == RetestState.WAITING.value)
        with self._database.writing() as connection:
            return bool(connection.execute(update(RETEST).where(*waiting).values(client=client)).rowcount)

    def admit_retest(self, retest: str, run: str, at: datetime) -> bool:
        """Give a waiting request its run and the run to compare with; False when it waits no longer."""
        with self._database.writing() as connection:
            return admit_retest(connection, retest, run, at)

    def requeue_retest(self, retest: str, run: str) -> bool:
        """Let an admitted request wait again, without the run that it was given; False when it has another one."""
        with self._database.writing() as connection:
            return requeue_retest(connection, retest, run)

    def finish_retest(self, retest: str, state: RetestState, at: datetime, reason: str | None = None) -> bool:
        """Move an open request to a final state; False when it has one already."""
        with self._database.writing() as connection:
            return finish_retest(connection, retest, state, reason, at)

    def find_retest(self, retest: str) -> Retest | None:
        """One request."""
        with self._database.reading() as connection:
            return find_retest(connection, retest)

    def list_unfinished_retests(self) -> list[Retest]:
        """Requests that are not finished, oldest first."""
        with self._database.reading() as connection:
            return list_unfinished_retests(connection)

    def list_retests(self, limit: int = 20, server: ServerId | None = None) -> list[Retest]:
        """Requests about all servers or one, newest first."""
        with self._database.reading() as connection:
            return list_retests(connection, limit, server)


def request_retest(connection: Connection, request: Retest, limit: ClientLimit | None) -> Retest | None:
    """Store a request and return it, or the open one that its server has already; None when the limit is reached."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _REQUESTS})
    key = find_server_keys(connection, [request.server])[request.server]
    known = connection.execute(_QUERY.where(RETEST.c.server_key == key, RETEST.c.state.in_(_OPEN))).first()
    if known is not None:
        return _retest(known)
    if limit is not None and _asked(connection, request.client, limit.since) >= limit.requests:
        return None
    row = (request.id, key, request.client, request.asked_at, RetestState.WAITING.value)
    insert_rows(connection, RETEST, _COLUMNS, [row], unique=["id"])
    return find_retest(connection, request.id)


def admit_retest(connection: Connection, retest: str, run: str, at: datetime) -> bool:
    """Give a waiting request its run and the run before it with scorecards; False when it waits no longer."""
    found = _find(connection, retest)
    values = {
        "state": RetestState.RUNNING.value,
        "run_key": find_run_key(connection, run),
        "before_key": _scored_before(connection, found.server_key, run),
        "admitted_at": at,
    }
    changed = connection.execute(
        update(RETEST).where(RETEST.c.id == retest, RETEST.c.state == RetestState.WAITING.value).values(values)
    )
    return bool(changed.rowcount)


def requeue_retest(connection: Connection, retest: str, run: str) -> bool:
    """Let an admitted request wait again, without the run that it was given; False when it has another one."""
    held = (
        RETEST.c.id == retest,
        RETEST.c.state == RetestState.RUNNING.value,
        RETEST.c.run_key == find_run_key(connection, run),
    )
    values = {"state": RetestState.WAITING.value, "run_key": None, "before_key": None, "admitted_at": None}
    return bool(connection.execute(update(RETEST).where(*held).values(values)).rowcount)


def finish_retest(connection: Connection, retest: str, state: RetestState, reason: str | None, at: datetime) -> bool:
    """Move an open request to a final state; False when it has one already."""
    values = {"state": state.value, "reason": reason, "finished_at": at}
    changed = connection.execute(update(RETEST).where(RETEST.c.id == retest, RETEST.c.state.in_(_OPEN)).values(values))
    return bool(changed.rowcount)


def find_retest(connection: Connection, retest: str) -> Retest | None:
    """One request by its id."""
    row = connection.execute(_QUERY.where(RETEST.c.id == retest)).first()
    return None if row is None else _retest(row)


def list_unfinished_retests(connection: Connection) -> list[Retest]:
    """Requests that are not finished, oldest first."""
    query = _QUERY.where(RETEST.c.state.in_(_OPEN)).order_by(RETEST.c.asked_at, RETEST.c.key)
    return [_retest(row) for row in connection.execute(query)]


def list_retests(connection: Connection, limit: int, server: ServerId | None) -> list[Retest]:
    """Requests about all servers or one, newest first."""
    newest, of = (_NEWEST, {}) if server is None else (_NEWEST_OF, {"id": server})
    return [_retest(row) for row in connection.execute(newest, {"limit": limit, **of})]


def find_newest_finished_retests(
    connection: Connection, run_id: str, servers: Sequence[int], since: datetime
) -> dict[int, int]:
    """By server the run of its newest finished re-test before a run, as of `since` or later; all by key.

    The full probe that followed on a re-test counts as one.
    """
    found: dict[int, tuple[str, int]] = {}
    for server, run, key in full_probes.find_newest_finished_probes(connection, run_id, servers, since):
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


def _asked(connection: Connection, client: str, since: datetime) -> int:
    query = select(func.count()).select_from(RETEST).where(RETEST.c.client == client, RETEST.c.asked_at > since)
    return connection.scalar(query) or 0


def _scored_before(connection: Connection, server: int, run: str) -> int | None:
    """The newest run before this one with scorecards of a server under all rubrics."""
    scored = select(SCORING.c.run_key).where(SCORING.c.run_key == RUN.c.key, SCORING.c.server_key == server)
    query = select(RUN).where(RUN.c.id < run, scored.correlate(RUN).exists())
    rows = connection.execute(query.order_by(RUN.c.id.desc()))
    return next((row.key for row in rows if not run_from_row(row).is_partial), None)


def _find(connection: Connection, retest: str) -> Row[tuple[object, ...]]:
    row = connection.execute(select(RETEST).where(RETEST.c.id == retest)).first()
    if row is None:
        raise UnknownRetest(f"no re-test {retest} in this store")
    return row


def _retest(row: Row[tuple[object, ...]]) -> Retest:
    return Retest(
        id=row.id,
        server=row.server,
        client=row.client,
        asked_at=row.asked_at,
        state=RetestState(row.state),
        reason=row.reason,
        run=row.run,
        before=row.before,
        admitted_at=row.admitted_at,
        finished_at=row.finished_at,
        visited_at=row.visited_at,
    )
