"""What is new in the evidence of a run since an earlier run of the same versions; no body is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from sqlalchemy import Connection, Select, select

from evidence.model import ServerId
from evidence.store.bulk import BATCH, batches
from evidence.store.keys import run_key
from evidence.store.models import RECORD, RUN, RUN_ITEM, SERVER
from evidence.store.rows import Change, Stage

Content: TypeAlias = tuple[str, *tuple[object, ...]]
"""A kind, and what a record of it says."""

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


def read_changes(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, Change]:
    """For each server that an earlier run with the same pins scored, what is new since the newest of them."""
    run = run_key(connection, run_id)
    alike = _pinned_alike(connection, run, run_id)
    found: dict[ServerId, Change] = {}
    for batch in batches(ids) if alike else ():
        by_run: dict[int, dict[int, ServerId]] = {}
        for server, key, earlier in connection.execute(_newest_scored(list(alike), batch)):
            if earlier is not None:
                by_run.setdefault(earlier, {})[key] = server
        here = _contents(connection, run, (key for servers in by_run.values() for key in servers))
        for earlier, servers in by_run.items():
            there = _contents(connection, earlier, servers)
            found |= {
                server: Change(run=alike[earlier], kinds=_differing(here.get(key, set()), there.get(key, set())))
                for key, server in servers.items()
            }
    return found


def _differing(here: set[Content], there: set[Content]) -> frozenset[str]:
    """The kinds of which two sets of records do not say the same."""
    return frozenset(content[0] for content in here ^ there)


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


def _contents(connection: Connection, run: int, servers: Iterable[int]) -> dict[int, set[Content]]:
    """What the records of each server in one run hold."""
    query = select(RECORD.c.server_key, *_CONTENT).where(RECORD.c.run_key == run)
    found: dict[int, set[Content]] = {}
    for batch in batches(sorted(servers)):
        for row in connection.execute(query.where(RECORD.c.server_key.in_(batch))):
            found.setdefault(row.server_key, set()).add((row.kind, *tuple(row)[2:]))
    return found
