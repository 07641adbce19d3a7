"""Changes of evidence since an earlier run with the same pins; no body is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, Select, select

from evidence.model import ServerId, Trigger
from evidence.store.records.record_sets import RecordContents, read_contents
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import COMPACTION, SCORING
from evidence.store.values import EvidenceChange

_MAX_RUNS: Final = 500
"""Earlier runs that are searched for a score of a server."""


def read_changes(connection: Connection, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, EvidenceChange]:
    """The changes of each server since the newest earlier run with equal pins that scored it, if there is one."""
    run = find_run_key(connection, run_id)
    earlier_runs = _select_equal_pins(connection, run, run_id)
    run_ids = dict(connection.execute(earlier_runs.limit(_MAX_RUNS)).all())
    found: dict[ServerId, EvidenceChange] = {}
    for batch in split_batches(servers) if run_ids else ():
        by_run: dict[int, dict[int, ServerId]] = {}
        since = earlier_runs.where(RUN.c.id >= min(run_ids.values()))
        for server, key, earlier in connection.execute(_newest_scored(since, batch)):
            if earlier is not None:
                by_run.setdefault(earlier, {})[key] = server
        new = read_contents(connection, run, [key for scored in by_run.values() for key in scored])
        for earlier, scored in by_run.items():
            old = read_contents(connection, earlier, scored)
            found |= {
                server: EvidenceChange(run=run_ids[earlier], kinds=_differing(new.get(key), old.get(key)))
                for key, server in scored.items()
            }
    return found


def _differing(new: RecordContents | None, old: RecordContents | None) -> frozenset[str]:
    """The kinds whose contents differ; equal blob keys are equal digests."""
    if new == old:
        return frozenset()
    one, other = (contents.by_kind if contents else {} for contents in (new, old))
    return frozenset(kind for kind in one.keys() | other.keys() if one.get(kind) != other.get(kind))


def _select_equal_pins(connection: Connection, run: int, run_id: str) -> Select[int, str]:
    """The earlier runs with the same pins and all records, newest first, without re-tests (docs/decisions/0029)."""
    pins = connection.scalar(select(RUN.c.pins).where(RUN.c.key == run))
    is_whole = RUN.c.key.not_in(select(COMPACTION.c.run_key))
    conditions = (RUN.c.pins == pins, RUN.c.id < run_id, RUN.c.trigger != Trigger.RETEST.value, is_whole)
    return select(RUN.c.key, RUN.c.id).where(*conditions).order_by(RUN.c.id.desc())


def _newest_scored(runs: Select[int, str], ids: Sequence[ServerId]) -> Select[str, int, int | None]:
    """For each server the newest of the runs that scored it, found by primary keys from the newest run on.

    With a list of run keys every run would be checked for every server; with EXISTS PostgreSQL may first read all
    scorings of every server.
    """
    scored = select(SCORING.c.run_key).where(SCORING.c.run_key == RUN.c.key, SCORING.c.server_key == SERVER.c.key)
    is_scored = scored.correlate(RUN, SERVER).scalar_subquery().is_not(None)
    newest = runs.with_only_columns(RUN.c.key).where(is_scored).limit(1)
    return select(SERVER.c.id, SERVER.c.key, newest.correlate(SERVER).scalar_subquery()).where(SERVER.c.id.in_(ids))
