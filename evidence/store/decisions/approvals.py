"""Listings that an operator has approved: append-only, one row per decision."""

from __future__ import annotations

from sqlalchemy import Connection, select

from evidence.model import ServerId
from evidence.store.sql import bulk_insert
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.core import APPROVAL, SERVER
from evidence.store.values import Approval


def put_approval(connection: Connection, approval: Approval) -> None:
    """Store a decision; one about a listing that is approved already changes nothing. The server must be known."""
    key = find_server_keys(connection, {approval.server})[approval.server]
    row = (key, approval.listing, approval.at, approval.who, approval.note)
    bulk_insert.insert_rows(
        connection, APPROVAL, ("server_key", "listing", "at", "who", "note"), [row], unique=["server_key", "listing"]
    )


def read_approvals(connection: Connection, server: ServerId | None) -> list[Approval]:
    """The decisions about one server or all, oldest first."""
    query = select(SERVER.c.id.label("server"), APPROVAL).join(SERVER, SERVER.c.key == APPROVAL.c.server_key)
    if server is not None:
        query = query.where(SERVER.c.id == server)
    return [
        Approval(server=row.server, listing=row.listing, at=row.at, who=row.who, note=row.note)
        for row in connection.execute(query.order_by(APPROVAL.c.key))
    ]
