"""Servers that are not shown any more although the run that is shown has them: their owners asked for it since."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select

from evidence.model import ServerId
from evidence.store.board_models import BOARD_HIDDEN
from evidence.store.bulk import insert
from evidence.store.keys import known_server_keys


def hide(connection: Connection, servers: Iterable[ServerId]) -> None:
    """Let exactly these servers be hidden, of those that are stored."""
    wanted = set(known_server_keys(connection, sorted(set(servers))).values())
    gone = set(connection.scalars(select(BOARD_HIDDEN.c.server_key))) - wanted
    for key in sorted(gone):
        connection.execute(delete(BOARD_HIDDEN).where(BOARD_HIDDEN.c.server_key == key))
    insert(connection, BOARD_HIDDEN, ["server_key"], [(key,) for key in wanted], unique=["server_key"])
