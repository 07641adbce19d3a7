"""Evidence records: written in batches, read back as dossiers. How they lie in the tables is known to visits.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, select

from evidence.model import Dossier, Observed, Record, Server, ServerId, Trigger
from evidence.store.blobs import find_digests, put_blobs
from evidence.store.errors import UnknownRun, UnknownServer
from evidence.store.leases.progress import advance_stage
from evidence.store.records.visits import put_visits, read_contents, read_visits
from evidence.store.runs.retests import find_newest_finished_retests
from evidence.store.servers.lookup import find_servers_by_key
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_known_server_keys, find_run_key, find_server_keys
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import PART, VISIT
from evidence.store.values import Stage

_NO_RETEST: Final = RUN.c.trigger != Trigger.RETEST.value
_RUN: Final = select(RUN.c.key, RUN.c.as_of).where(RUN.c.id == bindparam("id"))


def put_records(
    connection: Connection,
    run_id: str,
    records: Sequence[Record],
    *,
    done: Sequence[ServerId],
    at: datetime,
    stage: Stage,
    onward: Mapping[ServerId, Stage],
) -> None:
    """Store new bodies and records and let `done` pass a stage. The first record of a kind stays."""
    run = _run(connection, run_id)
    servers = find_server_keys(connection, {*(record.server for record in records), *done})
    blobs = put_blobs(connection, [record.content for record in records if isinstance(record.content, Observed)])
    by_server: dict[int, list[Record]] = {}
    for record in records:
        by_server.setdefault(servers[record.server], []).append(record)
    put_visits(connection, run.key, run.as_of, by_server, blobs)
    following = {servers[server]: part for server, part in onward.items()}
    advance_stage(connection, run.key, stage, (servers[server] for server in done), onward=following, at=at)


def read_dossiers(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> list[Dossier]:
    """Dossiers of servers in the order asked; a server without records has an empty one."""
    run = _run(connection, run_id)
    servers = find_servers_by_key(connection, ids)
    records = read_visits(connection, run.key, run.as_of, servers)
    dossiers = {
        server.id: Dossier(server=server, as_of=run.as_of, records=records[key]) for key, server in servers.items()
    }
    if missing := [server for server in ids if server not in dossiers]:
        raise UnknownServer(f"no server {missing[0]} in this store (and {len(missing) - 1} others)")
    return [dossiers[server] for server in ids]


def read_digests(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, dict[str, str]]:
    """Digests of the contents of all records by kind, sorted by it; no body is read."""
    keys = find_known_server_keys(connection, ids)
    contents = read_contents(connection, find_run_key(connection, run_id), keys.values())
    blobs = find_digests(connection, {blob for visit in contents.values() for blob in visit.blobs})
    known = {server: contents[key].digests(blobs) for server, key in keys.items() if key in contents}
    return {server: known.get(server, {}) for server in ids}


def read_earlier(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, Dossier]:
    """For each server that has any, its dossier in the newest run before this one that has records of it."""
    return _read_newest(connection, run_id, ids, VISIT.c.shape_key.is_not(None))


def read_earlier_observed(
    connection: Connection, run_id: str, ids: Sequence[ServerId], kind: str, since: datetime
) -> dict[ServerId, Dossier]:
    """The same of the newest run as of `since` or later in which a kind was observed."""
    shapes = select(PART.c.shape_key).where(PART.c.kind == kind, PART.c.reason.is_(None))
    return _read_newest(connection, run_id, ids, and_(RUN.c.as_of >= since, VISIT.c.shape_key.in_(shapes)))


def read_retested(
    connection: Connection, run_id: str, ids: Sequence[ServerId], since: datetime
) -> dict[ServerId, Dossier]:
    """For each server that has one, its dossier in its newest finished re-test before this run, as of `since` on."""
    servers = find_servers_by_key(connection, ids)
    return _read_of(connection, servers, find_newest_finished_retests(connection, run_id, list(servers), since))


def _read_newest(
    connection: Connection, run_id: str, ids: Sequence[ServerId], wanted: ColumnElement[bool]
) -> dict[ServerId, Dossier]:
    find_run_key(connection, run_id)
    servers = find_servers_by_key(connection, ids)
    newest: dict[int, int] = {}
    for batch in split_batches(list(servers)):
        rows = connection.execute(_newest_earlier(run_id, batch, wanted))
        newest |= {server: run for server, run in rows if run is not None}
    return _read_of(connection, servers, newest)


def _read_of(connection: Connection, servers: Mapping[int, Server], runs: Mapping[int, int]) -> dict[ServerId, Dossier]:
    """Dossiers of servers, each in its run; both by key."""
    by_run: dict[int, list[int]] = {}
    for server, run in runs.items():
        by_run.setdefault(run, []).append(server)
    as_of = dict(connection.execute(select(RUN.c.key, RUN.c.as_of).where(RUN.c.key.in_(by_run))).all())
    found: dict[ServerId, Dossier] = {}
    for run, keys in by_run.items():
        visits = read_visits(connection, run, as_of[run], {key: servers[key] for key in keys})
        for key, records in visits.items():
            found[servers[key].id] = Dossier(server=servers[key], as_of=as_of[run], records=records)
    return found


def _newest_earlier(run_id: str, servers: Sequence[int], wanted: ColumnElement[bool]) -> Select[int, int | None]:
    """Per server the newest earlier run with such records: probes of the primary key, and no index of its own.

    A re-test is no night of its own (docs/decisions/0029); without it here, none of them is looked into for others.
    With EXISTS PostgreSQL may read all visits of every server first.
    """
    recorded = select(VISIT.c.run_key).where(VISIT.c.run_key == RUN.c.key, VISIT.c.server_key == SERVER.c.key, wanted)
    is_recorded = recorded.correlate(RUN, SERVER).scalar_subquery().is_not(None)
    newest = select(RUN.c.key).where(RUN.c.id < run_id, _NO_RETEST, is_recorded)
    newest_key = newest.correlate(SERVER).order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    return select(SERVER.c.key, newest_key).where(SERVER.c.key.in_(servers))


def _run(connection: Connection, run_id: str) -> Row[int, datetime]:
    """Key and moment of a run; raise UnknownRun."""
    row = connection.execute(_RUN, {"id": run_id}).one_or_none()
    if row is None:
        raise UnknownRun(f"no run {run_id} in this store")
    return row
