"""Walks over registries: stored pages, progress and watermarks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from sqlalchemy import Connection, select, update

from evidence.model import Observed, Server, ServerRef, Status
from evidence.store.blobs import put_blobs
from evidence.store.errors import StoreError
from evidence.store.servers.hosts import find_host
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.json_columns import targets_to_json, to_json
from evidence.store.sql.row_keys import find_run_key, find_server_keys
from evidence.store.tables.core import SERVER, SERVER_REF, WALK, WATERMARK
from evidence.store.values import RegistryWalk

_SERVER = ("id", "ref", "name", "targets", "repository", "seen_in", "host")
_REF = (
    "registry",
    "name_digest",
    "name",
    "server_key",
    "version",
    "status",
    "entry_key",
    "targets",
    "repository",
    "updated_at",
    "error",
    "run_key",
)
_WALK = ("run_key", "registry", "cursor", "pages", "entries", "invalid", "done", "error", "at")


def find_walk(connection: Connection, run_id: str, registry: str) -> RegistryWalk:
    """The progress of a run's walk over a registry; before the first page it is at its beginning."""
    query = select(WALK).where(WALK.c.run_key == find_run_key(connection, run_id), WALK.c.registry == registry)
    row = connection.execute(query).one_or_none()
    if row is None:
        return RegistryWalk(registry=registry)
    return RegistryWalk(**{name: getattr(row, name) for name in _WALK[1:]})


def list_walks(connection: Connection, run_id: str) -> list[RegistryWalk]:
    """The walks of a run that have begun, by registry."""
    query = select(WALK).where(WALK.c.run_key == find_run_key(connection, run_id))
    rows = connection.execute(query.order_by(WALK.c.registry))
    return [RegistryWalk(**{name: getattr(row, name) for name in _WALK[1:]}) for row in rows]


def put_registry_page(
    connection: Connection,
    run_id: str,
    registry: str,
    refs: Sequence[tuple[Server, ServerRef]],
    *,
    cursor: str | None,
    done: bool,
    at: datetime,
) -> None:
    """Store a page's servers and entries and advance the walk to `cursor`; a stored page changes nothing."""
    walk = find_walk(connection, run_id, registry)
    _put_servers(connection, [server for server, _ in refs])
    _put_refs(connection, run_id, refs)
    if walk.done or (cursor is not None and walk.cursor == cursor):
        return
    advanced = replace(
        walk,
        cursor=cursor,
        pages=walk.pages + 1,
        entries=walk.entries + len(refs),
        invalid=walk.invalid + sum(ref.status is Status.INVALID for _, ref in refs),
        done=done,
        error=None,
    )
    _put_walk(connection, run_id, advanced, at)


def record_walk_failure(connection: Connection, run_id: str, registry: str, error: str, at: datetime) -> None:
    """Store why a walk stopped; the next page clears it."""
    _put_walk(connection, run_id, replace(find_walk(connection, run_id, registry), error=error), at)


def mark_unseen_deleted(connection: Connection, run_id: str, registry: str) -> int:
    """After a complete walk: mark the entries of the registry that it did not find as deleted; their number."""
    unseen = SERVER_REF.c.run_key.is_distinct_from(find_run_key(connection, run_id))
    current = (SERVER_REF.c.registry == registry) & (SERVER_REF.c.status != Status.DELETED.value)
    return connection.execute(update(SERVER_REF).where(current & unseen).values(status=Status.DELETED.value)).rowcount


def find_watermark(connection: Connection, registry: str) -> datetime | None:
    """When the newest complete walk over a registry began."""
    at: datetime | None = connection.scalar(select(WATERMARK.c.at).where(WATERMARK.c.registry == registry))
    return at


def set_watermark(connection: Connection, registry: str, at: datetime) -> None:
    """Store when a complete walk began; a time before the stored one is ignored."""
    known = find_watermark(connection, registry)
    if known is None or at > known:
        insert_rows(connection, WATERMARK, ("registry", "at"), [(registry, at)], unique=["registry"], update=["at"])


def _put_servers(connection: Connection, servers: Sequence[Server]) -> None:
    rows = [
        (
            one.id,
            one.ref,
            one.name,
            targets_to_json(one.targets),
            one.repository,
            to_json(list(one.seen_in)),
            find_host(one),
        )
        for one in servers
    ]
    insert_rows(connection, SERVER, _SERVER, rows, unique=["id"], update=_SERVER[2:])
    for batch in split_batches(servers):
        _check_references(connection, batch)


def _check_references(connection: Connection, servers: Sequence[Server]) -> None:
    """Raise StoreError when two references have the same id of 80 bits, which would merge two servers."""
    expected = {server.id: server.ref for server in servers}
    for id_, ref in connection.execute(select(SERVER.c.id, SERVER.c.ref).where(SERVER.c.id.in_(expected))):
        if ref != expected[id_]:
            raise StoreError(f"server id {id_} belongs to {ref}, and also to {expected[id_]}")


def _put_refs(connection: Connection, run_id: str, refs: Sequence[tuple[Server, ServerRef]]) -> None:
    seen_by = find_run_key(connection, run_id)
    entries = {id(ref): Observed(ref.entry) for _, ref in refs}
    blobs = put_blobs(connection, entries.values())
    keys = find_server_keys(connection, [server.id for server, _ in refs])
    rows = [
        (
            ref.registry,
            _digest(ref.name),
            ref.name,
            keys[server.id],
            ref.version,
            ref.status.value,
            blobs[entries[id(ref)].digest],
            targets_to_json(ref.targets),
            ref.repository,
            ref.updated_at,
            ref.error,
            seen_by,
        )
        for server, ref in refs
    ]
    insert_rows(connection, SERVER_REF, _REF, rows, unique=["registry", "name_digest"], update=_REF[3:])


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()


def _put_walk(connection: Connection, run_id: str, walk: RegistryWalk, at: datetime) -> None:
    counts = (walk.pages, walk.entries, walk.invalid)
    row = (find_run_key(connection, run_id), walk.registry, walk.cursor, *counts, walk.done, walk.error, at)
    insert_rows(connection, WALK, _WALK, [row], unique=["run_key", "registry"], update=_WALK[2:])
