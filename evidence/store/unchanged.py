"""Servers whose evidence in a run is what an earlier run of the same versions saw; no body is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection, Select, select

from evidence.model import ServerId
from evidence.store.bulk import BATCH, batches
from evidence.store.keys import run_key
from evidence.store.models import RECORD, RUN, RUN_ITEM, SERVER
from evidence.store.rows import Stage

# All of a record but when it was made and what its visit was like, which no rule reads. A blob's key stands for its
# digest.
_CONTENT: Final = (
    RECORD.c.kind,
    RECORD.c.schema,
    RECORD.c.collector,
    RECORD.c.collector_version,
    RECORD.c.blob_key,
    RECORD.c.reason,
    RECORD.c.detail,
)


def read_unchanged(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, str]:
    """For each server that is unchanged, the id of the newest earlier run with the same pins that scored it.

    Unchanged means: the records of every kind have equal contents, schemas and collectors in both runs.
    """
    run = run_key(connection, run_id)
    alike = _pinned_alike(connection, run, run_id)
    found: dict[ServerId, str] = {}
    for batch in batches(ids) if alike else ():
        by_run: dict[int, dict[int, ServerId]] = {}
        for server, key, earlier in connection.execute(_newest_scored(list(alike), batch)):
            if earlier is not None:
                by_run.setdefault(earlier, {})[key] = server
        here = _contents(connection, run, (key for servers in by_run.values() for key in servers))
        for earlier, servers in by_run.items():
            there = _contents(connection, earlier, servers)
            found |= {server: alike[earlier] for key, server in servers.items() if here.get(key) == there.get(key)}
    return found


def _pinned_alike(connection: Connection, run: int, run_id: str) -> dict[int, str]:
    """The newest earlier runs with the same pins, id by key; so many that one statement can name them."""
    pins = select(RUN.c.pins).where(RUN.c.key == run).scalar_subquery()
    query = select(RUN.c.key, RUN.c.id).where(RUN.c.pins == pins, RUN.c.id < run_id)
    return dict(connection.execute(query.order_by(RUN.c.id.desc()).limit(BATCH)).all())


def _newest_scored(runs: Sequence[int], ids: Sequence[ServerId]) -> Select[str, int, int | None]:
    """Per server the newest of some runs in which it was scored: a few probes of primary keys."""
    scored = select(RUN_ITEM.c.stage).where(
        RUN_ITEM.c.run_key == RUN.c.key,
        RUN_ITEM.c.stage == Stage.SCORE.value,
        RUN_ITEM.c.server_key == SERVER.c.key,
        RUN_ITEM.c.done_at.is_not(None),
    )
    newest = select(RUN.c.key).where(RUN.c.key.in_(runs), scored.correlate(RUN, SERVER).exists())
    key = newest.correlate(SERVER).order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    return select(SERVER.c.id, SERVER.c.key, key).where(SERVER.c.id.in_(ids))


def _contents(connection: Connection, run: int, servers: Iterable[int]) -> dict[int, set[tuple[object, ...]]]:
    """What the records of each server in one run hold."""
    query = select(RECORD.c.server_key, *_CONTENT).where(RECORD.c.run_key == run)
    found: dict[int, set[tuple[object, ...]]] = {}
    for batch in batches(sorted(servers)):
        for row in connection.execute(query.where(RECORD.c.server_key.in_(batch))):
            found.setdefault(row.server_key, set()).add(tuple(row)[1:])
    return found
