"""Integer keys of runs and servers, looked up by their public ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from evidence.model import ServerId
from evidence.store.bulk import batches
from evidence.store.errors import UnknownRun, UnknownServer
from evidence.store.models import RUN, SERVER


def run_key(connection: Connection, run_id: str) -> int:
    """Key of a run; raise UnknownRun."""
    key: int | None = connection.scalar(select(RUN.c.key).where(RUN.c.id == run_id))
    if key is None:
        raise UnknownRun(f"no run {run_id} in this store")
    return key


def server_keys(connection: Connection, ids: Iterable[ServerId]) -> dict[ServerId, int]:
    """Keys of servers; raise UnknownServer when one of them is not stored."""
    wanted = sorted(set(ids))
    keys = known_server_keys(connection, wanted)
    if missing := [server for server in wanted if server not in keys]:
        raise UnknownServer(f"no server {missing[0]} in this store (and {len(missing) - 1} others)")
    return keys


def known_server_keys(connection: Connection, ids: Sequence[ServerId]) -> dict[ServerId, int]:
    """Keys of those servers that are stored."""
    keys: dict[ServerId, int] = {}
    for batch in batches(ids):
        query = select(SERVER.c.id, SERVER.c.key).where(SERVER.c.id.in_(batch))
        keys |= dict(connection.execute(query).all())
    return keys


def server_ids(connection: Connection, keys: Iterable[int]) -> dict[int, ServerId]:
    """Ids of those servers, by key, that are stored."""
    found: dict[int, ServerId] = {}
    for batch in batches(sorted(keys)):
        found |= dict(connection.execute(select(SERVER.c.key, SERVER.c.id).where(SERVER.c.key.in_(batch))).all())
    return found
