"""Full probes, each of which follows a re-test: due, running and finished ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, Row, func, select

from evidence.model import ServerId
from evidence.store.errors import UnknownRetest
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import FULL_PROBE, RETEST, RUN, SERVER
from evidence.store.transactions import DatabaseAccess, read_method, write_method
from evidence.store.values import FINAL_STATES, RunState

_DONE: Final = "done"


class FullProbe(Struct, frozen=True):
    """The full probe of a server after a re-test, and its run."""

    retest: str
    server: ServerId
    run: str


class AwaitingFullProbe(Struct, frozen=True):
    """A finished re-test without a full probe, and its run."""

    retest: str
    server: ServerId
    run: str
    finished_at: datetime


def list_due_probes(connection: Connection, since: datetime, limit: int) -> list[AwaitingFullProbe]:
    """The newest re-test of each server, if it ended since a moment and has no full probe; oldest first."""
    other = RETEST.alias("later")
    later = select(other.c.key).where(other.c.server_key == RETEST.c.server_key, other.c.key > RETEST.c.key)
    followed = select(FULL_PROBE.c.retest_key).where(FULL_PROBE.c.retest_key == RETEST.c.key)
    query = (
        select(RETEST.c.id, SERVER.c.id, RUN.c.id, RETEST.c.finished_at)
        .join(SERVER, SERVER.c.key == RETEST.c.server_key)
        .join(RUN, RUN.c.key == RETEST.c.run_key)
        .where(RETEST.c.finished_at >= since, RETEST.c.state == _DONE)
        .where(~later.correlate(RETEST).exists(), ~followed.correlate(RETEST).exists())
        .order_by(RETEST.c.finished_at, RETEST.c.key)
        .limit(limit)
    )
    return [AwaitingFullProbe(*row) for row in connection.execute(query)]


def record_full_probe(connection: Connection, retest: str, run: str | None) -> bool:
    """Store the run of the full probe after a re-test, None when no probe is needed; False when stored already."""
    key = connection.scalar(select(RETEST.c.key).where(RETEST.c.id == retest).with_for_update())
    if key is None:
        raise UnknownRetest(f"no re-test {retest} in this store")
    if connection.scalar(select(func.count()).where(FULL_PROBE.c.retest_key == key)):
        return False
    row = (key, None if run is None else find_run_key(connection, run))
    insert_rows(connection, FULL_PROBE, ("retest_key", "run_key"), [row], unique=["retest_key"])
    return True


def list_running_probes(connection: Connection, since: datetime) -> list[FullProbe]:
    """Full probes with unfinished runs after re-tests that ended since a moment; oldest first."""
    query = (
        select(RETEST.c.id, SERVER.c.id, RUN.c.id)
        .join(FULL_PROBE, FULL_PROBE.c.retest_key == RETEST.c.key)
        .join(SERVER, SERVER.c.key == RETEST.c.server_key)
        .join(RUN, RUN.c.key == FULL_PROBE.c.run_key)
        .where(RETEST.c.finished_at >= since, RUN.c.state.not_in(FINAL_STATES))
        .order_by(RETEST.c.finished_at, RETEST.c.key)
    )
    return [FullProbe(*row) for row in connection.execute(query)]


def find_newest_full_probe(connection: Connection, server: ServerId) -> str | None:
    """The run of a server's newest finished full probe."""
    query = (
        select(func.max(RUN.c.id))
        .join(FULL_PROBE, FULL_PROBE.c.run_key == RUN.c.key)
        .join(RETEST, RETEST.c.key == FULL_PROBE.c.retest_key)
        .join(SERVER, SERVER.c.key == RETEST.c.server_key)
        .where(SERVER.c.id == server, RUN.c.state == RunState.DONE.value)
    )
    run: str | None = connection.scalar(query)
    return run


def list_finished_probes(
    connection: Connection, run_id: str, servers: Sequence[int], since: datetime
) -> list[Row[int, str, int]]:
    """Server key, run id and run key of finished full probes before a run, as of `since` or later."""
    found: list[Row[int, str, int]] = []
    for batch in split_batches(servers):
        query = (
            select(RETEST.c.server_key, RUN.c.id, RUN.c.key)
            .join(FULL_PROBE, FULL_PROBE.c.retest_key == RETEST.c.key)
            .join(RUN, RUN.c.key == FULL_PROBE.c.run_key)
            .where(RETEST.c.server_key.in_(batch), RUN.c.state == RunState.DONE.value)
            .where(RUN.c.id < run_id, RUN.c.as_of >= since)
        )
        found.extend(connection.execute(query))
    return found


class FullProbes(DatabaseAccess):
    """The full probes of one database; each method is one transaction."""

    list_due_probes = read_method(list_due_probes)
    record_full_probe = write_method(record_full_probe)
    find_newest_full_probe = read_method(find_newest_full_probe)
    list_running_probes = read_method(list_running_probes)
