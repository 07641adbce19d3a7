"""Evidence records: written in batches, read back as dossiers. The stored form is in record_sets.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, Select, and_, select

from evidence.model import Dossier, Observed, Record, Server, ServerId, Trigger
from evidence.store.blobs import find_digests, put_blobs
from evidence.store.errors import UnknownServer
from evidence.store.leases.leasing import find_lost_leases
from evidence.store.leases.progress import NO_STAGES, advance_stage
from evidence.store.records.record_sets import put_record_sets, read_contents, read_record_sets
from evidence.store.runs.retests import find_newest_finished_retests
from evidence.store.servers.lookup import find_servers_by_key
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.row_keys import find_dated_run, find_known_server_keys, find_run_key, find_server_keys
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.evidence import PART, RECORD_SET
from evidence.store.values import LeaseTokens, Stage

_NO_RETEST: Final = RUN.c.trigger != Trigger.RETEST.value


def put_records(
    connection: Connection,
    run_id: str,
    records: Sequence[Record],
    *,
    done: Sequence[ServerId] = (),
    at: datetime,
    stage: Stage = Stage.COLLECT,
    onward: Mapping[ServerId, Stage] = NO_STAGES,
    tokens: LeaseTokens | None = None,
) -> frozenset[ServerId]:
    """Store records and mark the servers in `done` as having passed a stage. The first record of a kind stays.

    After a part of collecting, a server goes on to the part that `onward` names; without one it is collected. Nothing
    is stored of servers whose lease (`tokens`) was lost; returns these servers.
    """
    lost = find_lost_leases(connection, run_id, stage, tokens)
    records = [record for record in records if record.server not in lost]
    done = [server for server in done if server not in lost]
    run, as_of = find_dated_run(connection, run_id)
    servers = find_server_keys(connection, {*(record.server for record in records), *done})
    blobs = put_blobs(connection, [record.content for record in records if isinstance(record.content, Observed)])
    by_server: dict[int, list[Record]] = {}
    for record in records:
        by_server.setdefault(servers[record.server], []).append(record)
    put_record_sets(connection, run, as_of, by_server, blobs)
    following = {servers[server]: onward[server] for server in done if server in onward}
    advance_stage(connection, run, stage, (servers[server] for server in done), onward=following, at=at)
    return lost


def read_dossiers(connection: Connection, run_id: str, servers: Sequence[ServerId]) -> list[Dossier]:
    """Dossiers in the order of `servers`, empty for a server without records; raise UnknownServer or CorruptBlob."""
    run, as_of = find_dated_run(connection, run_id)
    by_key = find_servers_by_key(connection, servers)
    records = read_record_sets(connection, run, as_of, by_key)
    dossiers = {server.id: Dossier(server=server, as_of=as_of, records=records[key]) for key, server in by_key.items()}
    if missing := [server for server in servers if server not in dossiers]:
        raise UnknownServer(f"no server {missing[0]} in this store (and {len(missing) - 1} others)")
    return [dossiers[server] for server in servers]


def read_digests(connection: Connection, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, dict[str, str]]:
    """The digest of every record of these servers by kind, in the order of kinds; no body is read."""
    keys = find_known_server_keys(connection, servers)
    contents = read_contents(connection, find_run_key(connection, run_id), keys.values())
    blobs = find_digests(connection, {blob for one in contents.values() for blob in one.blobs})
    known = {server: contents[key].digests(blobs) for server, key in keys.items() if key in contents}
    return {server: known.get(server, {}) for server in servers}


def read_earlier(connection: Connection, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, Dossier]:
    """The dossier of each server in the newest run before this one that has records of it, if there is one."""
    return _read_newest(connection, run_id, servers, RECORD_SET.c.shape_key.is_not(None))


def read_earlier_observed(
    connection: Connection, run_id: str, servers: Sequence[ServerId], kind: str, since: datetime
) -> dict[ServerId, Dossier]:
    """The newest dossier of each server before this run, as of `since` or later, in which a kind was observed."""
    shapes = select(PART.c.shape_key).where(PART.c.kind == kind, PART.c.reason.is_(None))
    return _read_newest(connection, run_id, servers, and_(RUN.c.as_of >= since, RECORD_SET.c.shape_key.in_(shapes)))


def read_retested(
    connection: Connection, run_id: str, servers: Sequence[ServerId], since: datetime
) -> dict[ServerId, Dossier]:
    """The dossier of each server in its newest finished re-test before this run, as of `since` or later."""
    by_key = find_servers_by_key(connection, servers)
    return _read_in_runs(connection, by_key, find_newest_finished_retests(connection, run_id, list(by_key), since))


def _read_newest(
    connection: Connection, run_id: str, ids: Sequence[ServerId], wanted: ColumnElement[bool]
) -> dict[ServerId, Dossier]:
    find_run_key(connection, run_id)
    servers = find_servers_by_key(connection, ids)
    newest: dict[int, int] = {}
    for batch in split_batches(list(servers)):
        rows = connection.execute(_newest_earlier(run_id, batch, wanted))
        newest |= {server: run for server, run in rows if run is not None}
    return _read_in_runs(connection, servers, newest)


def _read_in_runs(
    connection: Connection, servers: Mapping[int, Server], runs: Mapping[int, int]
) -> dict[ServerId, Dossier]:
    """The dossier of each server in the run that `runs` names; servers and runs by key."""
    by_run: dict[int, list[int]] = {}
    for server, run in runs.items():
        by_run.setdefault(run, []).append(server)
    as_of = dict(connection.execute(select(RUN.c.key, RUN.c.as_of).where(RUN.c.key.in_(by_run))).all())
    found: dict[ServerId, Dossier] = {}
    for run, keys in by_run.items():
        for key, records in read_record_sets(connection, run, as_of[run], {key: servers[key] for key in keys}).items():
            found[servers[key].id] = Dossier(server=servers[key], as_of=as_of[run], records=records)
    return found


def _newest_earlier(run_id: str, servers: Sequence[int], wanted: ColumnElement[bool]) -> Select[int, int | None]:
    """For each server the newest earlier run with such records, found by primary keys from the newest run on.

    Re-tests are left out (docs/decisions/0029). With EXISTS PostgreSQL may first read all record sets of each server.
    """
    recorded = select(RECORD_SET.c.run_key).where(
        RECORD_SET.c.run_key == RUN.c.key, RECORD_SET.c.server_key == SERVER.c.key, wanted
    )
    is_recorded = recorded.correlate(RUN, SERVER).scalar_subquery().is_not(None)
    newest = select(RUN.c.key).where(RUN.c.id < run_id, _NO_RETEST, is_recorded)
    newest_key = newest.correlate(SERVER).order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    return select(SERVER.c.key, newest_key).where(SERVER.c.key.in_(servers))
