"""Integer keys of runs and servers, looked up by their public ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, select

from evidence.model import ServerId
from evidence.store.errors import UnknownRun, UnknownServer
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.known_rows import keep_rows, recall_rows
from evidence.store.tables.core import RUN, SERVER

_RUN: Final = select(RUN.c.key, RUN.c.as_of).where(RUN.c.id == bindparam("id"))
_BY_ID: Final = select(SERVER.c.id, SERVER.c.key).where(matches_any(SERVER.c.id))
_BY_KEY: Final = select(SERVER.c.key, SERVER.c.id).where(matches_any(SERVER.c.key))


def find_run_key(connection: Connection, run_id: str) -> int:
    """The key of a run; raise UnknownRun."""
    return find_dated_run(connection, run_id)[0]


def find_dated_run(connection: Connection, run_id: str) -> tuple[int, datetime]:
    """The key and `as_of` of a run; raise UnknownRun."""
    known: tuple[int, datetime] | None = recall_rows(connection, RUN.name).get(run_id)
    if known is not None:
        return known
    row = connection.execute(_RUN, {"id": run_id}).first()
    if row is None:
        raise UnknownRun(f"no run {run_id} in this store")
    keep_rows(connection, RUN.name, {run_id: (row.key, row.as_of)})
    return row.key, row.as_of


def find_server_keys(connection: Connection, ids: Iterable[ServerId]) -> dict[ServerId, int]:
    """The keys of servers; raise UnknownServer when one is not stored."""
    wanted = sorted(set(ids))
    keys = find_known_server_keys(connection, wanted)
    if missing := [server for server in wanted if server not in keys]:
        raise UnknownServer(f"no server {missing[0]} in this store (and {len(missing) - 1} others)")
    return keys


def find_known_server_keys(connection: Connection, ids: Sequence[ServerId]) -> dict[ServerId, int]:
    """The keys of the stored servers."""
    keys: dict[ServerId, int] = {}
    for batch in split_batches(ids):
        keys |= dict(connection.execute(_BY_ID, {KEYS: batch}).all())
    return keys


def find_server_ids(connection: Connection, keys: Iterable[int]) -> dict[int, ServerId]:
    """The ids of the stored servers, by key."""
    found: dict[int, ServerId] = {}
    for batch in split_batches(sorted(keys)):
        found |= dict(connection.execute(_BY_KEY, {KEYS: batch}).all())
    return found
