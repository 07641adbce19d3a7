"""Records of a run by kind and reason of absence, without reading any body."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from evidence.model import Absent, Reason, ServerId
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import SERVER
from evidence.store.tables.evidence import PART, RECORD_SET


def read_absences(connection: Connection, run_id: str, kind: str) -> dict[ServerId, Absent]:
    """Why servers of a run have no payload of a kind; no body is read."""
    query = (
        select(SERVER.c.id, PART.c.reason, PART.c.detail)
        .join(RECORD_SET, RECORD_SET.c.server_key == SERVER.c.key)
        .join(PART, PART.c.shape_key == RECORD_SET.c.shape_key)
        .where(
            RECORD_SET.c.run_key == find_run_key(connection, run_id), PART.c.kind == kind, PART.c.reason.is_not(None)
        )
    )
    return {server: Absent(Reason(reason), detail) for server, reason, detail in connection.execute(query)}


def count_records(connection: Connection, run: int) -> dict[tuple[str, str | None], int]:
    """The number of records of a run, by its key, for each kind and reason; the reason is None for payloads."""
    count = func.count()
    record_sets = select(RECORD_SET.c.shape_key, count.label("number")).where(RECORD_SET.c.run_key == run)
    by_shape = record_sets.group_by(RECORD_SET.c.shape_key).subquery()
    query = select(PART.c.kind, PART.c.reason, func.sum(by_shape.c.number))
    query = query.join(by_shape, by_shape.c.shape_key == PART.c.shape_key).group_by(PART.c.kind, PART.c.reason)
    return {(kind, reason): int(number) for kind, reason, number in connection.execute(query)}
