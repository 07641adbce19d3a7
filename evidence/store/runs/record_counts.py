"""Records of a run by kind and reason of absence, without reading any body."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, bindparam, func, select

from evidence.model import Absent, Reason, ServerId
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import PART, RECORD_SET

_ABSENCES: Final = (
    select(SERVER.c.id, PART.c.reason, PART.c.detail)
    .join(RECORD_SET, RECORD_SET.c.server_key == SERVER.c.key)
    .join(RUN, RUN.c.key == RECORD_SET.c.run_key)
    .join(PART, PART.c.shape_key == RECORD_SET.c.shape_key)
    .where(RUN.c.id == bindparam("run"), PART.c.kind == bindparam("kind"), PART.c.reason.is_not(None))
)
_ABSENCE: Final = _ABSENCES.where(SERVER.c.id == bindparam("server"))


def read_absences(connection: Connection, run_id: str, kind: str) -> dict[ServerId, Absent]:
    """Why servers of a run have no payload of a kind; no body is read. Raise UnknownRun."""
    find_run_key(connection, run_id)
    rows = connection.execute(_ABSENCES, {"run": run_id, "kind": kind})
    return {row.id: Absent(Reason(row.reason), row.detail) for row in rows}


def find_absence(connection: Connection, run_id: str, server: ServerId, kind: str) -> Absent | None:
    """Why a server has no payload of a kind in a run; None where there is a payload, and where there is no record."""
    row = connection.execute(_ABSENCE, {"run": run_id, "kind": kind, "server": server}).first()
    return None if row is None else Absent(Reason(row.reason), row.detail)


def count_records(connection: Connection, run: int) -> dict[tuple[str, str | None], int]:
    """The number of records of a run, by its key, for each kind and reason; the reason is None for payloads."""
    count = func.count()
    record_sets = select(RECORD_SET.c.shape_key, count.label("number")).where(RECORD_SET.c.run_key == run)
    by_shape = record_sets.group_by(RECORD_SET.c.shape_key).subquery()
    query = select(PART.c.kind, PART.c.reason, func.sum(by_shape.c.number))
    query = query.join(by_shape, by_shape.c.shape_key == PART.c.shape_key).group_by(PART.c.kind, PART.c.reason)
    return {(kind, reason): int(number) for kind, reason, number in connection.execute(query)}


def count_absence_details(connection: Connection, run: int, kind: str, reason: Reason) -> dict[str, int]:
    """The number of a run's records of one kind that are absent for one reason, by its detail."""
    query = select(PART.c.detail, func.count()).join(RECORD_SET, RECORD_SET.c.shape_key == PART.c.shape_key)
    query = query.where(RECORD_SET.c.run_key == run, PART.c.kind == kind, PART.c.reason == reason.value)
    return {detail: int(number) for detail, number in connection.execute(query.group_by(PART.c.detail))}
