"""Which servers of a run are due and which keep earlier evidence: carrying it forward, and the counts for planning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace
from sqlalchemy import Connection, and_, func, or_, select

from evidence.kinds import drift
from evidence.kinds.traits import kinds_where
from evidence.model import Dossier, Record, ServerId
from evidence.store.records.dossiers import put_records, read_earlier, read_retested
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_run_key
from evidence.store.tables.core import RUN, RUN_ITEM, SAMPLE, SERVER
from evidence.store.tables.evidence import RECORD_SET
from evidence.store.values import Stage

_CONVERSATION: Final = kinds_where(lambda traits: traits.conversation)


def carry_evidence_forward(connection: Connection, run_id: str, servers: Sequence[ServerId], at: datetime) -> None:
    """Copy the last evidence of servers to this run with its dates; a server without any is collected without records.

    Conversation records of a later re-test replace those of the last nightly run. Other code may have scanned the
    listing of an earlier run, so the note that it is clean is not copied.
    """
    for batch in split_batches(servers):
        last = read_earlier(connection, run_id, batch)
        oldest = min((dossier.as_of for dossier in last.values()), default=at)
        retested = read_retested(connection, run_id, batch, oldest)
        records = [
            _without_scan(record)
            for server, dossier in last.items()
            for record in _merge_retest(dossier, retested.get(server)).values()
        ]
        put_records(connection, run_id, records, done=batch, at=at)


def _merge_retest(last: Dossier, retest: Dossier | None) -> Mapping[str, Record]:
    if retest is None or retest.as_of < last.as_of:
        return last.records
    return {**last.records, **{kind: one for kind, one in retest.records.items() if kind in _CONVERSATION}}


def _without_scan(record: Record) -> Record:
    if drift.CLEAN not in record.observation:
        return record
    return replace(record, observation={name: one for name, one in record.observation.items() if name != drift.CLEAN})


def read_last_collection_times(
    connection: Connection, run_id: str, servers: Sequence[ServerId]
) -> dict[ServerId, datetime]:
    """When each server was last collected in a run before this one, other than by carrying; others are left out.

    A run whose item was dropped counts with its `as_of`, which is earlier. The query looks up primary keys.
    """
    item = (RUN_ITEM.c.run_key == RUN.c.key, RUN_ITEM.c.server_key == SERVER.c.key)
    records = (RECORD_SET.c.run_key == RUN.c.key, RECORD_SET.c.server_key == SERVER.c.key)
    was_collected = or_(
        and_(RUN_ITEM.c.done_at.is_not(None), RUN_ITEM.c.carried.is_(False)),
        and_(RUN_ITEM.c.run_key.is_(None), RECORD_SET.c.run_key.is_not(None)),
    )
    times = (
        select(func.coalesce(RUN_ITEM.c.done_at, RUN.c.as_of))
        .select_from(RUN)
        .join(RUN_ITEM, and_(*item, RUN_ITEM.c.stage == Stage.COLLECT.value), isouter=True)
        .join(RECORD_SET, and_(*records), isouter=True)
        .where(RUN.c.id < run_id, was_collected)
        .correlate(SERVER)
    )
    newest = times.order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    found: dict[ServerId, datetime] = {}
    for batch in split_batches(servers):
        rows = connection.execute(select(SERVER.c.id, newest).where(SERVER.c.id.in_(batch)))
        found |= {server: at for server, at in rows if at is not None}
    return found


def list_carried_servers(connection: Connection, run_id: str) -> list[ServerId]:
    """Servers of a run that keep their last evidence because they are not due; sorted."""
    query = select(SERVER.c.id).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
    own = (RUN_ITEM.c.run_key == find_run_key(connection, run_id), RUN_ITEM.c.stage == Stage.COLLECT.value)
    return sorted(connection.scalars(query.where(*own, RUN_ITEM.c.carried.is_(True))))


def find_progress_time(connection: Connection, run_id: str, number: int) -> datetime | None:
    """When the `number`th of the servers that were due was scored; None when fewer are scored."""
    own = (RUN_ITEM.c.run_key == find_run_key(connection, run_id), RUN_ITEM.c.stage == Stage.SCORE.value)
    done = select(RUN_ITEM.c.done_at).where(*own, RUN_ITEM.c.done_at.is_not(None), RUN_ITEM.c.carried.is_(False))
    at: datetime | None = connection.scalar(done.order_by(RUN_ITEM.c.done_at).offset(number - 1).limit(1))
    return at


def count_held_items(connection: Connection, run_id: str) -> int:
    """The number of open items with a lease holder, in any stage; the lease may have expired."""
    is_open = (RUN_ITEM.c.run_key == find_run_key(connection, run_id), RUN_ITEM.c.done_at.is_(None))
    return connection.scalar(select(func.count()).where(*is_open, RUN_ITEM.c.leased_by.is_not(None))) or 0


def list_postponed_servers(
    connection: Connection, run_id: str, reasons: Collection[str], *, limit: int, after: ServerId = ""
) -> dict[ServerId, str]:
    """The next servers, by id, that were postponed for one of the reasons and not collected yet, with the reason."""
    query = select(SERVER.c.id, RUN_ITEM.c.last_error).join(RUN_ITEM, RUN_ITEM.c.server_key == SERVER.c.key)
    open_ones = (
        RUN_ITEM.c.run_key == find_run_key(connection, run_id),
        RUN_ITEM.c.stage.in_([stage.value for stage in (Stage.COLLECT, Stage.PROBE, Stage.SANDBOX)]),
        RUN_ITEM.c.done_at.is_(None),
        RUN_ITEM.c.last_error.in_(sorted(reasons)),
        SERVER.c.id > after,
    )
    return dict(connection.execute(query.where(*open_ones).order_by(SERVER.c.id).limit(limit)).all())


def count_probes_without_evidence(
    connection: Connection, servers: Sequence[ServerId], since: datetime
) -> dict[ServerId, int]:
    """How often servers were probed since a moment between runs or without a result; unprobed servers are left out."""
    found: dict[ServerId, int] = {}
    query = select(SERVER.c.id, func.count()).join(SAMPLE, SAMPLE.c.server_key == SERVER.c.key)
    for batch in split_batches(servers):
        rows = query.where(SERVER.c.id.in_(batch), SAMPLE.c.at >= since).group_by(SERVER.c.id)
        found |= dict(connection.execute(rows).all())
    return found
