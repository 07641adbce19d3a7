"""Servers of the published run that are hidden because they have opted out since."""

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
    """Hide exactly these servers, if they are stored, and those that opt-outs in force name.

    An opt-out may have been entered since the caller read them.
    """
    wanted = {*find_known_server_keys(connection, sorted(set(servers))).values(), *_named(connection)}
    gone = set(connection.scalars(select(LISTING_HIDDEN.c.server_key))) - wanted
    for key in sorted(gone):
        connection.execute(delete(LISTING_HIDDEN).where(LISTING_HIDDEN.c.server_key == key))
    insert_rows(connection, LISTING_HIDDEN, ["server_key"], [(key,) for key in wanted], unique=["server_key"])


def hide_opted_out_servers(connection: Connection) -> None:
    """Hide the servers that opt-outs in force name by id or reference, in the transaction that adds an opt-out."""
    rows = [(key,) for key in _named(connection)]
    insert_rows(connection, LISTING_HIDDEN, ["server_key"], rows, unique=["server_key"])


def remove_hidden(connection: Connection, document: Json) -> Json:
    """A document about a run, without the list members whose `server` is hidden now."""
    query = select(SERVER.c.id).join(LISTING_HIDDEN, LISTING_HIDDEN.c.server_key == SERVER.c.key)
    gone = frozenset(connection.scalars(query))
    return _without(document, gone) if gone else document


def _named(connection: Connection) -> list[int]:
    query = select(OPT_OUT.c.value).where(OPT_OUT.c.scope == _SERVER, OPT_OUT.c.revoked_at.is_(None))
    named = {value if value.startswith(_IDS) else server_id(value) for value in connection.scalars(query)}
    return sorted(find_known_server_keys(connection, sorted(named)).values())


def _without(value: Json, gone: frozenset[ServerId]) -> Json:
    if isinstance(value, Mapping):
        return {name: _without(member, gone) for name, member in value.items()}
    if isinstance(value, list):
        return [_without(one, gone) for one in value if not (isinstance(one, Mapping) and one.get("server") in gone)]
    return value
