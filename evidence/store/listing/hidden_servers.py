"""Servers that are not shown any more although the run that is shown has them: their owners asked for it since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, delete, select

from evidence.canonical import Json
from evidence.model import ServerId, server_id
from evidence.store.sql.bulk_insert import insert_rows
from evidence.store.sql.row_keys import find_known_server_keys
from evidence.store.tables.core import OPT_OUT, SERVER
from evidence.store.tables.listing import LISTING_HIDDEN

_SERVER = "server"
_IDS = "srv_"


def set_hidden_servers(connection: Connection, servers: Iterable[ServerId]) -> None:
    """Let exactly these servers be hidden, of those that are stored, and those that opt-outs in force name.

    The latter too, since one may have been entered after the caller looked.
    """
    wanted = {*find_known_server_keys(connection, sorted(set(servers))).values(), *_named(connection)}
    gone = set(connection.scalars(select(LISTING_HIDDEN.c.server_key))) - wanted
    for key in sorted(gone):
        connection.execute(delete(LISTING_HIDDEN).where(LISTING_HIDDEN.c.server_key == key))
    insert_rows(connection, LISTING_HIDDEN, ["server_key"], [(key,) for key in wanted], unique=["server_key"])


def hide_opted_out_servers(connection: Connection) -> None:
    """Let those be hidden too whom opt-outs in force name, by id or reference, in the transaction that enters one."""
    insert_rows(
        connection, LISTING_HIDDEN, ["server_key"], [(key,) for key in _named(connection)], unique=["server_key"]
    )


def without_hidden(connection: Connection, told: Json) -> Json:
    """What was told of a run, without entries about a `server` that is hidden now."""
    query = select(SERVER.c.id).join(LISTING_HIDDEN, LISTING_HIDDEN.c.server_key == SERVER.c.key)
    gone = frozenset(connection.scalars(query))
    return _without(told, gone) if gone else told


def _named(connection: Connection) -> list[int]:
    query = select(OPT_OUT.c.value).where(OPT_OUT.c.scope == _SERVER, OPT_OUT.c.revoked_at.is_(None))
    named = {value if value.startswith(_IDS) else server_id(value) for value in connection.scalars(query)}
    return sorted(find_known_server_keys(connection, sorted(named)).values())


def _without(told: Json, gone: frozenset[ServerId]) -> Json:
    if isinstance(told, Mapping):
        return {name: _without(value, gone) for name, value in told.items()}
    if isinstance(told, list):
        return [_without(one, gone) for one in told if not (isinstance(one, Mapping) and one.get("server") in gone)]
    return told
