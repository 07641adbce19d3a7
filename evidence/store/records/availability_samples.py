"""Visits between runs and the samples they gave, until the next run has rolled them into its records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, func, select

from evidence.kinds.samples import Sample
from evidence.model import ServerId
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.core import SAMPLE, SERVER

NO_SAMPLE: Final = "none"
"""In place of a failure: a visit that says nothing of the server's stability, kept so that it is not repeated soon."""

_COLUMNS = ("server_key", "at", "failure", "cold_ms", "warm_ms")


def put_probes(connection: Connection, visits: Sequence[tuple[ServerId, Sample | None]], at: datetime) -> None:
    """Store what visits gave, `at` for those that gave no sample; the first of a server at one moment stays."""
    keys = find_server_keys(connection, {server for server, _ in visits})
    rows = [
        (keys[server], one.at, one.failure, one.cold_ms, one.warm_ms)
        if one
        else (keys[server], at, NO_SAMPLE, None, None)
        for server, one in visits
    ]
    insert_rows(connection, SAMPLE, _COLUMNS, rows, unique=["server_key", "at"])


def read_samples(connection: Connection, ids: Sequence[ServerId], since: datetime) -> dict[ServerId, list[Sample]]:
    """The samples taken after `since` of those servers that have any, oldest first."""
    query = (
        select(SERVER.c.id, SAMPLE)
        .join(SAMPLE, SAMPLE.c.server_key == SERVER.c.key)
        .where(SAMPLE.c.at > since, SAMPLE.c.failure != NO_SAMPLE)
        .order_by(SAMPLE.c.at)
    )
    found: dict[ServerId, list[Sample]] = {}
    for batch in split_batches(ids):
        for row in connection.execute(query.where(SERVER.c.id.in_(batch))):
            sample = Sample(at=row.at, failure=row.failure, cold_ms=row.cold_ms, warm_ms=row.warm_ms)
            found.setdefault(row.id, []).append(sample)
    return found


def read_last_probe_times(connection: Connection) -> dict[ServerId, datetime]:
    """When each server that was visited between runs was visited last."""
    newest = func.max(SAMPLE.c.at)
    query = select(SERVER.c.id, newest).join(SAMPLE, SAMPLE.c.server_key == SERVER.c.key).group_by(SERVER.c.id)
    return dict(connection.execute(query).all())


def delete_probes(connection: Connection, before: datetime) -> None:
    """Drop the visits before a moment."""
    connection.execute(delete(SAMPLE).where(SAMPLE.c.at < before))
