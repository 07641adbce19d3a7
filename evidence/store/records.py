"""Evidence records: written in batches, read back as dossiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, select

from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, ServerId, Trigger
from evidence.store.blobs import put_blobs, read_blobs
from evidence.store.bulk import batches, insert
from evidence.store.errors import UnknownServer
from evidence.store.keys import run_key, server_keys
from evidence.store.mapping import to_json, to_object
from evidence.store.models import BLOB, RECORD, RUN, SERVER
from evidence.store.progress import pass_on
from evidence.store.retests import newest_done
from evidence.store.rows import Stage
from evidence.store.servers import servers_by_key

_COLUMNS = (
    "run_key",
    "server_key",
    "kind",
    "schema",
    "collector",
    "collector_version",
    "observed_at",
    "blob_key",
    "reason",
    "detail",
    "observation",
)

_NO_RETEST: Final = RUN.c.trigger != Trigger.RETEST.value


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
    run = run_key(connection, run_id)
    servers = server_keys(connection, {*(record.server for record in records), *done})
    blobs = put_blobs(connection, [record.content for record in records if isinstance(record.content, Observed)])
    rows = [_row(record, run, servers[record.server], blobs) for record in records]
    insert(connection, RECORD, _COLUMNS, rows, unique=["run_key", "server_key", "kind"])
    following = {servers[server]: part for server, part in onward.items()}
    pass_on(connection, run, stage, (servers[server] for server in done), onward=following, at=at)


def read_dossiers(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> list[Dossier]:
    """Dossiers of servers in the order asked; a server without records has an empty one."""
    run = connection.execute(select(RUN.c.key, RUN.c.as_of).where(RUN.c.key == run_key(connection, run_id))).one()
    servers = servers_by_key(connection, ids)
    records = _read(connection, run.key, servers)
    dossiers = {
        server.id: Dossier(server=server, as_of=run.as_of, records=records[key]) for key, server in servers.items()
    }
    if missing := [server for server in ids if server not in dossiers]:
        raise UnknownServer(f"no server {missing[0]} in this store (and {len(missing) - 1} others)")
    return [dossiers[server] for server in ids]


def read_digests(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, dict[str, str]]:
    """Digests of the contents of all records by kind, sorted by it; no body is read."""
    query = (
        select(SERVER.c.id, RECORD.c.kind, BLOB.c.digest, RECORD.c.reason, RECORD.c.detail)
        .join(RECORD, RECORD.c.server_key == SERVER.c.key)
        .join(BLOB, BLOB.c.key == RECORD.c.blob_key, isouter=True)
        .where(RECORD.c.run_key == run_key(connection, run_id))
        .order_by(RECORD.c.kind)
    )
    found: dict[ServerId, dict[str, str]] = {server: {} for server in ids}
    for batch in batches(ids):
        for server, kind, digest, reason, detail in connection.execute(query.where(SERVER.c.id.in_(batch))):
            found[server][kind] = digest.hex() if digest else Absent(Reason(reason), detail).digest
    return found


def read_absences(connection: Connection, run_id: str, kind: str) -> dict[ServerId, Absent]:
    """Why servers of a run have no payload of a kind; no body is read."""
    query = (
        select(SERVER.c.id, RECORD.c.reason, RECORD.c.detail)
        .join(RECORD, RECORD.c.server_key == SERVER.c.key)
        .where(RECORD.c.run_key == run_key(connection, run_id), RECORD.c.kind == kind, RECORD.c.reason.is_not(None))
    )
    return {server: Absent(Reason(reason), detail) for server, reason, detail in connection.execute(query)}


def read_earlier(connection: Connection, run_id: str, ids: Sequence[ServerId]) -> dict[ServerId, Dossier]:
    """For each server that has any, its dossier in the newest run before this one that has records of it."""
    return _read_newest(connection, run_id, ids, RECORD.c.kind.is_not(None))


def read_earlier_observed(
    connection: Connection, run_id: str, ids: Sequence[ServerId], kind: str, since: datetime
) -> dict[ServerId, Dossier]:
    """The same of the newest run as of `since` or later in which a kind was observed."""
    observed = and_(RUN.c.as_of >= since, RECORD.c.kind == kind, RECORD.c.blob_key.is_not(None))
    return _read_newest(connection, run_id, ids, observed)


def read_retested(
    connection: Connection, run_id: str, ids: Sequence[ServerId], since: datetime
) -> dict[ServerId, Dossier]:
    """For each server that has one, its dossier in its newest finished re-test before this run, as of `since` on."""
    servers = servers_by_key(connection, ids)
    return _read_of(connection, servers, newest_done(connection, run_id, list(servers), since))


def _read_newest(
    connection: Connection, run_id: str, ids: Sequence[ServerId], wanted: ColumnElement[bool]
) -> dict[ServerId, Dossier]:
    run_key(connection, run_id)
    servers = servers_by_key(connection, ids)
    newest: dict[int, int] = {}
    for batch in batches(list(servers)):
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
        for key, records in _read(connection, run, {key: servers[key] for key in keys}).items():
            found[servers[key].id] = Dossier(server=servers[key], as_of=as_of[run], records=records)
    return found


def _newest_earlier(run_id: str, servers: Sequence[int], wanted: ColumnElement[bool]) -> Select[int, int | None]:
    """Per server the newest earlier run with such records: probes of the primary key, and no index of its own.

    A re-test is no night of its own (docs/decisions/0220); without it here, none of them is looked into for others.
    """
    recorded = select(RECORD.c.kind).where(RECORD.c.run_key == RUN.c.key, RECORD.c.server_key == SERVER.c.key, wanted)
    newest = select(RUN.c.key).where(RUN.c.id < run_id, _NO_RETEST, recorded.correlate(RUN, SERVER).exists())
    newest_key = newest.correlate(SERVER).order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    return select(SERVER.c.key, newest_key).where(SERVER.c.key.in_(servers))


def _read(connection: Connection, run: int, servers: Mapping[int, Server]) -> dict[int, dict[str, Record]]:
    found: dict[int, dict[str, Record]] = {key: {} for key in servers}
    for batch in batches(list(servers)):
        query = select(RECORD).where(RECORD.c.run_key == run, RECORD.c.server_key.in_(batch)).order_by(RECORD.c.kind)
        rows = connection.execute(query).all()
        blobs = read_blobs(connection, _blob_keys(rows))
        for row in rows:
            found[row.server_key][row.kind] = _record(row, servers[row.server_key].id, blobs)
    return found


def _blob_keys(rows: Iterable[Row[tuple[object, ...]]]) -> list[int]:
    return [row.blob_key for row in rows if row.blob_key is not None]


def _row(record: Record, run: int, server: int, blobs: Mapping[str, int]) -> tuple[object, ...]:
    head = (run, server, record.kind, record.schema, record.collector, record.collector_version, record.observed_at)
    observation = to_json(record.observation).encode("ascii")
    match record.content:
        case Observed():
            return (*head, blobs[record.content.digest], None, None, observation)
        case Absent(reason, detail):
            return (*head, None, reason.value, detail, observation)


def _record(row: Row[tuple[object, ...]], server: ServerId, blobs: Mapping[int, Observed]) -> Record:
    absent = row.blob_key is None
    return Record(
        server=server,
        kind=row.kind,
        schema=row.schema,
        collector=row.collector,
        collector_version=row.collector_version,
        observed_at=row.observed_at,
        content=Absent(Reason(row.reason), row.detail) if absent else blobs[row.blob_key],
        observation=to_object(row.observation),
    )
