"""What is new in the evidence of a run since an earlier run of the same versions; no body is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, Select, select

from evidence.model import ServerId, Trigger
from evidence.store.records.visits import VisitContents, read_contents
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import RUN, RUN_ITEM, SERVER
from evidence.store.values import EvidenceChange, Stage

_LOOKED_AT: Final = 500
"""So many runs back a server that was not scored lately is looked for."""


def read_changes(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, EvidenceChange]:
    """For each server that an earlier run with the same pins scored, what is new since the newest of them."""
    run = find_run_key(connection, run_id)
    earlier_ones = _pinned_alike(connection, run, run_id)
    alike = dict(connection.execute(earlier_ones.limit(_LOOKED_AT)).all())
    found: dict[ServerId, EvidenceChange] = {}
    for batch in split_batches(ids) if alike else ():
        by_run: dict[int, dict[int, ServerId]] = {}
        since = earlier_ones.where(RUN.c.id >= min(alike.values()))
        for server, key, earlier in connection.execute(_newest_scored(since, batch)):
            if earlier is not None:
                by_run.setdefault(earlier, {})[key] = server
        here = read_contents(connection, run, [key for servers in by_run.values() for key in servers])
        for earlier, servers in by_run.items():
            there = read_contents(connection, earlier, servers)
            found |= {
                server: EvidenceChange(run=alike[earlier], kinds=_differing(here.get(key), there.get(key)))
                for key, server in servers.items()
            }
    return found


def _differing(here: VisitContents | None, there: VisitContents | None) -> frozenset[str]:
    """The kinds of which two visits do not say the same; a blob's key stands for its digest."""
    if here == there:
        return frozenset()
    one, other = (visit.by_kind if visit else {} for visit in (here, there))
    return frozenset(kind for kind in one.keys() | other.keys() if one.get(kind) != other.get(kind))


def _pinned_alike(connection: Connection, run: int, run_id: str) -> Select[int, str]:
    """The earlier runs with the same pins, the newest first. A re-test is none of them (docs/decisions/0029)."""
    pins = connection.scalar(select(RUN.c.pins).where(RUN.c.key == run))
    alike = (RUN.c.pins == pins, RUN.c.id < run_id, RUN.c.trigger != Trigger.RETEST.value)
    return select(RUN.c.key, RUN.c.id).where(*alike).order_by(RUN.c.id.desc())


def _newest_scored(runs: Select[int, str], ids: Sequence[ServerId]) -> Select[str, int, int | None]:
    """Per server the newest of some runs in which it was scored: probes of a primary key, from the newest run on.

    Named by their keys, all of these runs would be looked at for every server, and with EXISTS PostgreSQL may read all
    items of every server first.
    """
    scored = select(RUN_ITEM.c.stage).where(
        RUN_ITEM.c.run_key == RUN.c.key,
        RUN_ITEM.c.stage == Stage.SCORE.value,
        RUN_ITEM.c.server_key == SERVER.c.key,
        RUN_ITEM.c.done_at.is_not(None),
    )
    is_scored = scored.correlate(RUN, SERVER).scalar_subquery().is_not(None)
    newest = runs.with_only_columns(RUN.c.key).where(is_scored).limit(1)
    return select(SERVER.c.id, SERVER.c.key, newest.correlate(SERVER).scalar_subquery()).where(SERVER.c.id.in_(ids))
