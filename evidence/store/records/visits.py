"""Visits: all records of one server in one run as one row, written once and added to, never altered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, Row, bindparam, select

from evidence.kinds import samples
from evidence.kinds.samples import read_samples
from evidence.model import Observed, Record, Server, ServerId
from evidence.store.blobs import find_digests, find_discarded, read_blobs
from evidence.store.errors import CorruptBlob
from evidence.store.records import attempts
from evidence.store.records.shapes import Shape, ShapePart, put_shapes, read_shapes
from evidence.store.records.visit_notes import VisitNote, read_notes, write_notes
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.key_sets import KEYS, among
from evidence.store.sql.packing import pack_numbers, pack_text, unpack_numbers, unpack_text
from evidence.store.tables.evidence import VISIT

_COLUMNS = ("run_key", "server_key", "shape_key", "blobs", "notes")
_UNIQUE = ("run_key", "server_key")
_VISITS = select(VISIT).where(VISIT.c.run_key == bindparam("run"), among(VISIT.c.server_key))


@dataclass(frozen=True, slots=True)
class VisitEntry:
    """One record of a visit as it is stored: `blob` is the key of its body, None where there is none."""

    part: ShapePart
    blob: int | None
    note: VisitNote


@dataclass(frozen=True, slots=True)
class VisitContents:
    """What the records of one server in one run say: a blob for each part that has a payload, in their order."""

    shape: Shape
    blobs: tuple[int, ...]

    @property
    def by_kind(self) -> dict[str, tuple[ShapePart, int | None]]:
        """Part and blob of every kind, in the order of kinds; raise CorruptBlob when there are not as many blobs."""
        observed = [part for part in self.shape if part.absent is None]
        if len(observed) != len(self.blobs):
            raise CorruptBlob(f"a visit has {len(self.blobs)} blobs, {len(observed)} expected")
        blobs = dict(zip((part.kind for part in observed), self.blobs, strict=True))
        return {part.kind: (part, blobs.get(part.kind)) for part in self.shape}

    def digests(self, blobs: Mapping[int, str]) -> dict[str, str]:
        """The digest of every kind's content, in the order of kinds; raise CorruptBlob when a blob is missing."""
        try:
            return {
                kind: part.absent.digest if part.absent else blobs[blob or 0]
                for kind, (part, blob) in self.by_kind.items()
            }
        except KeyError as error:
            raise CorruptBlob(f"a visit has blob {error}, which is not stored") from error


def put_visits(
    connection: Connection, run: int, as_of: datetime, records: Mapping[int, Sequence[Record]], blobs: Mapping[str, int]
) -> None:
    """Store records of servers, by key, of one run. The first record of a kind stays."""
    visits: dict[int, dict[str, VisitEntry]] = {}
    for server, found in records.items():
        for record in found:
            blob = blobs[record.digest] if isinstance(record.content, Observed) else None
            entry = VisitEntry(ShapePart.of(record), blob, VisitNote(record.observed_at, record.observation))
            visits.setdefault(server, {}).setdefault(record.kind, entry)
    put_entries(connection, run, as_of, visits)


def put_entries(
    connection: Connection, run: int, as_of: datetime, visits: Mapping[int, Mapping[str, VisitEntry]]
) -> None:
    """Store entries by server and kind, beside those that the run has of these servers already."""
    wanted = _numbered(connection, visits)
    shapes = _put(connection, run, as_of, wanted)
    others = [server for server, shape in _shape_keys(connection, run, list(wanted)).items() if shape != shapes[server]]
    if not others:
        return
    query = select(VISIT).where(VISIT.c.run_key == run).with_for_update()
    merged: dict[int, dict[str, VisitEntry]] = {}
    for batch in split_batches(sorted(others)):
        rows = connection.execute(query.where(VISIT.c.server_key.in_(batch)).order_by(VISIT.c.server_key)).all()
        for server, known in _decoded(connection, as_of, rows).items():
            if wanted[server].keys() - known.keys():
                merged[server] = {**wanted[server], **known}
    _put(connection, run, as_of, merged, update=["shape_key", "blobs", "notes"])


def read_visits(
    connection: Connection, run: int, as_of: datetime, servers: Mapping[int, Server]
) -> dict[int, dict[str, Record]]:
    """The records of servers in one run by kind, in the order of kinds; raise CorruptBlob when one is damaged."""
    found: dict[int, dict[str, Record]] = {key: {} for key in servers}
    for batch in split_batches(sorted(servers)):
        visits = _decoded(connection, as_of, connection.execute(_VISITS, {"run": run, KEYS: batch}).all())
        entries = [entry for visit in visits.values() for entry in visit.values()]
        bodies = read_blobs(connection, (entry.blob for entry in entries if entry.blob is not None))
        taken = _taken(connection, visits)
        for server, visit in visits.items():
            id_ = servers[server].id
            found[server] = {
                kind: _record(id_, entry, taken.get(server) if kind == samples.KIND else None, bodies)
                for kind, entry in visit.items()
            }
    return found


def read_contents(connection: Connection, run: int, servers: Iterable[int]) -> dict[int, VisitContents]:
    """What the records of those servers say that were visited; no body is read, nor what the visit was like."""
    rows: list[tuple[int, int, bytes]] = []
    for batch in split_batches(sorted(servers)):
        query = select(VISIT.c.server_key, VISIT.c.shape_key, VISIT.c.blobs).where(VISIT.c.run_key == run)
        rows += [tuple(row) for row in connection.execute(query.where(VISIT.c.server_key.in_(batch)))]
    shapes = read_shapes(connection, (shape for _, shape, _ in rows))
    return {server: VisitContents(shapes.get(shape, ()), tuple(unpack_numbers(blobs))) for server, shape, blobs in rows}


def check_visits(connection: Connection, run: int, as_of: datetime, servers: Sequence[int]) -> list[str]:
    """What is wrong with the visits of these servers, by key, in one run; their bodies are not read."""
    query = select(VISIT).where(VISIT.c.run_key == run, VISIT.c.server_key.in_(servers)).order_by(VISIT.c.server_key)
    rows = connection.execute(query).all()
    shapes = read_shapes(connection, (row.shape_key for row in rows))
    blobs = {row.server_key: unpack_numbers(row.blobs) for row in rows}
    known = find_digests(connection, {blob for found in blobs.values() for blob in found})
    gone = find_discarded(connection, known)
    problems = []
    for row in rows:
        problems += [
            f"visit of server {row.server_key} in run {run}: the body of blob {known[blob]} is gone"
            for blob in blobs[row.server_key]
            if blob in gone
        ]
        try:
            visit = _entries_of(as_of, row, shapes)
            for note in _taken(connection, {row.server_key: visit}).values():
                read_samples(note.observation)
            VisitContents(shapes.get(row.shape_key, ()), tuple(unpack_numbers(row.blobs))).digests(known)
        except CorruptBlob as error:
            problems.append(f"visit of server {row.server_key} in run {run}: {error}")
    return problems


def _numbered(
    connection: Connection, visits: Mapping[int, Mapping[str, VisitEntry]]
) -> dict[int, Mapping[str, VisitEntry]]:
    """The entries with numbers in place of the attempts that an observation of samples consists of."""
    tried = {
        server: taken
        for server, visit in visits.items()
        if samples.KIND in visit
        and (taken := attempts.extract_attempts(visit[samples.KIND].note.observation)) is not None
    }
    numbered = dict(visits)
    for server, numbers in attempts.store_attempts(connection, tried).items():
        entry = visits[server][samples.KIND]
        noted = replace(entry, note=VisitNote(entry.note.at, {}, numbers))
        numbered[server] = {**visits[server], samples.KIND: noted}
    return numbered


def _put(
    connection: Connection,
    run: int,
    as_of: datetime,
    visits: Mapping[int, Mapping[str, VisitEntry]],
    update: Sequence[str] = (),
) -> dict[int, int]:
    """Write whole visits; the shape of each server's."""
    ordered = {server: [visit[kind] for kind in sorted(visit)] for server, visit in visits.items()}
    shapes = {server: tuple(entry.part for entry in entries) for server, entries in ordered.items()}
    keys = put_shapes(connection, set(shapes.values()))
    rows = [
        (
            run,
            server,
            keys[shapes[server]],
            pack_numbers(entry.blob for entry in entries if entry.blob is not None),
            pack_text(write_notes(as_of, [entry.note for entry in entries])),
        )
        for server, entries in ordered.items()
    ]
    insert_rows(connection, VISIT, _COLUMNS, rows, unique=_UNIQUE, update=update)
    return {server: keys[shape] for server, shape in shapes.items()}


def _shape_keys(connection: Connection, run: int, servers: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for batch in split_batches(sorted(servers)):
        query = select(VISIT.c.server_key, VISIT.c.shape_key).where(VISIT.c.run_key == run)
        found |= dict(connection.execute(query.where(VISIT.c.server_key.in_(batch))).all())
    return found


def _decoded(
    connection: Connection, as_of: datetime, rows: Sequence[Row[tuple[object, ...]]]
) -> dict[int, dict[str, VisitEntry]]:
    """The entries of visits by server and kind."""
    shapes = read_shapes(connection, (row.shape_key for row in rows))
    return {row.server_key: _entries_of(as_of, row, shapes) for row in rows}


def _entries_of(as_of: datetime, row: Row[tuple[object, ...]], shapes: Mapping[int, Shape]) -> dict[str, VisitEntry]:
    contents = VisitContents(shapes.get(row.shape_key, ()), tuple(unpack_numbers(row.blobs)))
    notes = read_notes(as_of, unpack_text(row.notes))
    if len(notes) != len(contents.shape):
        raise CorruptBlob(f"a visit has {len(notes)} notes, {len(contents.shape)} expected")
    pairs = zip(contents.by_kind.items(), notes, strict=True)
    return {kind: VisitEntry(part, blob, note) for (kind, (part, blob)), note in pairs}


def _taken(connection: Connection, visits: Mapping[int, Mapping[str, VisitEntry]]) -> dict[int, VisitNote]:
    """The notes of samples that consist of attempts, with these attempts."""
    noted = {
        server: note
        for server, visit in visits.items()
        if samples.KIND in visit and (note := visit[samples.KIND].note).attempts is not None
    }
    found = attempts.read_attempts(connection, {server: note.attempts or () for server, note in noted.items()})
    return {server: replace(note, observation=found[server]) for server, note in noted.items()}


def _record(server: ServerId, entry: VisitEntry, instead: VisitNote | None, bodies: Mapping[int, Observed]) -> Record:
    note = instead or entry.note
    return Record(
        server=server,
        kind=entry.part.kind,
        schema=entry.part.schema,
        collector=entry.part.collector,
        collector_version=entry.part.collector_version,
        observed_at=note.at,
        content=entry.part.absent or bodies[entry.blob or 0],
        observation=note.observation,
    )
