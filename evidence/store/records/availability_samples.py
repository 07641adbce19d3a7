"""Probes between runs and their availability samples, until the next run has included them in its records."""

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
"""Stored in place of a failure for a probe without a sample, so that the server is not probed again soon."""

_COLUMNS = ("server_key", "at", "failure", "cold_ms", "warm_ms")


def put_probes(connection: Connection, probes: Sequence[tuple[ServerId, Sample | None]], at: datetime) -> None:
    """Store probes with their samples, at time `at` where there is no sample; the first of a server at a time stays."""
    keys = find_server_keys(connection, {server for server, _ in probes})
    rows = [(keys[server], *(sample or Sample(at, NO_SAMPLE, None, None))) for server, sample in probes]
    insert_rows(connection, SAMPLE, _COLUMNS, rows, unique=["server_key", "at"])


def read_samples(connection: Connection, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, list[Sample]]:
    """The samples after `since`, oldest first; servers without any are left out."""
    query = (
        select(SERVER.c.id, SAMPLE)
        .join(SAMPLE, SAMPLE.c.server_key == SERVER.c.key)
        .where(SAMPLE.c.at > since, SAMPLE.c.failure != NO_SAMPLE)
        .order_by(SAMPLE.c.at)
    )
    found: dict[ServerId, list[Sample]] = {}
    for batch in split_batches(servers):
        for row in connection.execute(query.where(SERVER.c.id.in_(batch))):
            sample = Sample(at=row.at, failure=row.failure, cold_ms=row.cold_ms, warm_ms=row.warm_ms)
            found.setdefault(row.id, []).append(sample)
    return found


def read_last_probe_times(connection: Connection) -> dict[ServerId, datetime]:
    """The time of the last probe between runs, of every server that has one."""
    newest = func.max(SAMPLE.c.at)
    query = select(SERVER.c.id, newest).join(SAMPLE, SAMPLE.c.server_key == SERVER.c.key).group_by(SERVER.c.id)
    return dict(connection.execute(query).all())


def delete_probes(connection: Connection, before: datetime) -> None:
    connection.execute(delete(SAMPLE).where(SAMPLE.c.at < before))
