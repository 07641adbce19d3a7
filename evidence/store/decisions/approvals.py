"""Listings that an operator has approved: append-only, one row per decision."""

from __future__ import annotations

from sqlalchemy import Connection, select

from evidence.model import ServerId
from evidence.store.sql.bulk_insert import insert_rows
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.core import APPROVAL, SERVER
from evidence.store.values import Approval

_COLUMNS = ("listing", "at", "who", "note")


def put_approval(connection: Connection, approval: Approval) -> None:
    """Store an approval; one of a listing that is approved already changes nothing. Raise UnknownServer."""
    key = find_server_keys(connection, {approval.server})[approval.server]
    row = (key, approval.listing, approval.at, approval.who, approval.note)
    insert_rows(connection, APPROVAL, ("server_key", *_COLUMNS), [row], unique=["server_key", "listing"])


def read_approvals(connection: Connection, server: ServerId | None = None) -> list[Approval]:
    """The approved listings of one server or all, oldest first."""
    query = select(SERVER.c.id.label("server"), APPROVAL).join(SERVER, SERVER.c.key == APPROVAL.c.server_key)
    if server is not None:
        query = query.where(SERVER.c.id == server)
    rows = connection.execute(query.order_by(APPROVAL.c.key))
    return [Approval(server=row.server, **{name: getattr(row, name) for name in _COLUMNS}) for row in rows]
