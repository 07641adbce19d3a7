"""Servers and the registry entries that name them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Row, and_, func, literal, or_, select, tuple_

from evidence.model import Server, ServerId, ServerRef, Status, server_id
from evidence.store.blobs import read_blobs
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.json_columns import from_json_fast, targets_from_json
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.tables.column_types import TextColumn
from evidence.store.tables.core import SERVER, SERVER_REF

_BY_ID = select(SERVER).where(matches_any(SERVER.c.id))


def find_servers(connection: Connection, ids: Sequence[ServerId]) -> list[Server]:
    """The stored servers with these ids, sorted by id."""
    return [server for _, server in sorted(find_servers_by_key(connection, ids).items(), key=lambda item: item[1].id)]


def find_servers_by_key(connection: Connection, ids: Sequence[ServerId]) -> dict[int, Server]:
    """The stored servers with these ids, by key."""
    found: dict[int, Server] = {}
    for batch in split_batches(ids):
        found |= {row.key: server_from_row(row) for row in connection.execute(_BY_ID, {KEYS: batch})}
    return found


def list_active_servers(
    connection: Connection, registries: Sequence[str] | None = None, *, after: ServerId = "", limit: int | None = None
) -> list[Server]:
    """Servers with an entry that is not deleted (an invalid entry counts), in these registries or in any, by id.

    Only those with ids above `after`, and of these the first `limit`.
    """
    query = select(SERVER).where(_is_active(registries), SERVER.c.id > after).order_by(SERVER.c.id).limit(limit)
    return [server_from_row(row) for row in connection.execute(query)]


def list_servers_by_host(
    connection: Connection, registries: Sequence[str], host: str, after: int, *, limit: int, alone: bool = False
) -> list[tuple[int, Server]]:
    """The first `limit` active servers of registries after a place in the order of host and key, with their keys.

    With `alone` only those of `host`.
    """
    place = (SERVER.c.host, SERVER.c.key)
    following = tuple_(*place) > tuple_(literal(host, SERVER.c.host.type), literal(after))
    query = select(SERVER).where(following, _is_active(registries)).order_by(*place).limit(limit)
    if alone:
        query = query.where(SERVER.c.host == host)
    return [(row.key, server_from_row(row)) for row in connection.execute(query)]


def list_hosts(connection: Connection) -> list[str]:
    """The hosts by which the stored servers are planned, each once; of a server with several remotes, the first."""
    return list(connection.scalars(select(SERVER.c.host).distinct()))


def find_named_or_remote(connection: Connection, names: Sequence[str], hosts: Sequence[str]) -> list[Server]:
    """Servers that have one of the names as id, ref or name, those of the hosts, and those that may have other hosts.

    The last ones have more than one URL, one whose host is unknown, or a text with escapes, such as a foreign letter.
    """
    ids = {one for name in names for one in _possible_ids(name)}
    has_url = SERVER.c.targets.contains("//")
    may_have_others = or_(
        SERVER.c.targets.like("%//%//%"),
        SERVER.c.targets.contains("\\", autoescape=True),
        and_(SERVER.c.host == "", has_url),
    )
    found: dict[ServerId, Server] = {}
    for column, values in ((SERVER.c.id, ids), (SERVER.c.name, names), (SERVER.c.host, hosts)):
        for batch in split_batches(sorted(values)):
            rows = connection.execute(select(SERVER).where(matches_any(column)), {KEYS: batch})
            found |= {row.id: server_from_row(row) for row in rows}
    rows = connection.execute(select(SERVER).where(may_have_others))
    return list((found | {row.id: server_from_row(row) for row in rows}).values())


def search_servers(connection: Connection, text: str, limit: int = 20) -> list[Server]:
    """Servers whose id, ref or name is the text; if there are none, those whose ref or name contains it."""
    exact = or_(SERVER.c.id.in_(_possible_ids(text)), SERVER.c.name == text)
    rows = connection.execute(select(SERVER).where(exact).order_by(SERVER.c.id).limit(limit)).all()
    if not rows:
        similar = or_(*(_contains(connection, column, text) for column in (SERVER.c.ref, SERVER.c.name)))
        rows = connection.execute(select(SERVER).where(similar).order_by(SERVER.c.id).limit(limit)).all()
    return [server_from_row(row) for row in rows]


def find_refs(connection: Connection, servers: Sequence[ServerId]) -> dict[ServerId, list[ServerRef]]:
    """The registry entries of each server, sorted by registry and name; a server without any has an empty list."""
    found: dict[ServerId, list[ServerRef]] = {server: [] for server in servers}
    for batch in split_batches(servers):
        query = select(SERVER.c.id.label("server_id"), SERVER_REF).join(SERVER, SERVER.c.key == SERVER_REF.c.server_key)
        rows = connection.execute(query.where(SERVER.c.id.in_(batch))).all()
        entries = read_blobs(connection, [row.entry_key for row in rows])
        for row in rows:
            found[row.server_id].append(_ref(row, entries[row.entry_key].body))
    for refs in found.values():
        refs.sort(key=lambda ref: (ref.registry, ref.name))
    return found


def _is_active(registries: Sequence[str] | None) -> ColumnElement[bool]:
    refs = select(SERVER_REF.c.server_key).where(SERVER_REF.c.status != Status.DELETED.value)
    if registries is not None:
        refs = refs.where(SERVER_REF.c.registry.in_(registries))
    return SERVER.c.key.in_(refs)


def _contains(connection: Connection, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Ignores the case of ASCII letters. SQLite limits the length of LIKE patterns, so LIKE is not used."""
    position = func.instr if connection.dialect.name == "sqlite" else func.strpos
    return position(func.lower(column), func.lower(literal(text, TextColumn))) > 0


def _possible_ids(text: str) -> list[ServerId]:
    """The text as an id, and the id of the text as a canonical reference."""
    try:
        return [text, server_id(text)]
    except UnicodeEncodeError:
        return [text]


def server_from_row(row: Row[tuple[object, ...]]) -> Server:
    return Server(
        ref=row.ref,
        name=row.name,
        targets=targets_from_json(row.targets),
        repository=row.repository,
        seen_in=tuple(from_json_fast(row.seen_in)),
    )


def _ref(row: Row[tuple[object, ...]], entry: bytes) -> ServerRef:
    return ServerRef(
        registry=row.registry,
        name=row.name,
        version=row.version,
        status=Status(row.status),
        entry=entry,
        targets=targets_from_json(row.targets),
        repository=row.repository,
        updated_at=row.updated_at,
        error=row.error,
    )
