"""Listings that an operator has approved: append-only, one row per decision."""

from __future__ import annotations

from sqlalchemy import Connection, select

from evidence.model import ServerId
from evidence.store import bulk
from evidence.store.keys import server_keys
from evidence.store.models import APPROVAL, SERVER
from evidence.store.rows import Approval


def put_approval(connection: Connection, approval: Approval) -> None:
    """Store a decision; one about a listing that is approved already changes nothing. The server must be known."""
    key = server_keys(connection, {approval.server})[approval.server]
    row = (key, approval.listing, approval.at, approval.who, approval.note)
    bulk.insert(
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
