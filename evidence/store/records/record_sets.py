"""Record sets: all records of one server in one run, stored as one row. Rows gain records and are never altered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, bindparam, select

from evidence.kinds import samples
from evidence.kinds.samples import read_samples
from evidence.model import Observed, Record, Server, ServerId
from evidence.store.blobs import find_digests, find_discarded, read_blobs
from evidence.store.errors import CorruptBlob
from evidence.store.records import attempts
from evidence.store.records.record_notes import RecordNote, read_notes, write_notes
from evidence.store.records.shapes import Shape, ShapePart, put_shapes, read_shapes
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.packing import pack_numbers, pack_text, unpack_numbers, unpack_text
from evidence.store.tables.evidence import RECORD_SET

_COLUMNS = ("run_key", "server_key", "shape_key", "blobs", "notes")
_UNIQUE = ("run_key", "server_key")
_RECORD_SETS = select(RECORD_SET).where(RECORD_SET.c.run_key == bindparam("run"), matches_any(RECORD_SET.c.server_key))


class StoredRecord(Struct, frozen=True):
    """One record as it is stored: `blob` is the key of its body, None without a payload."""

    part: ShapePart
    blob: int | None
    note: RecordNote


RecordsByServer: TypeAlias = Mapping[int, Mapping[str, StoredRecord]]
"""Stored records by server key and kind."""


class RecordContents(Struct, frozen=True):
    """The contents of a record set: `blobs` are the keys of the bodies of those parts that have a payload, in order."""

    shape: Shape
    blobs: tuple[int, ...]

    @property
    def by_kind(self) -> dict[str, tuple[ShapePart, int | None]]:
        """Part and blob of every kind, in the order of kinds; raise CorruptBlob when their numbers differ."""
        observed = [part for part in self.shape if part.absent is None]
        if len(observed) != len(self.blobs):
            raise CorruptBlob(f"a record set has {len(self.blobs)} blobs, {len(observed)} expected")
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
            raise CorruptBlob(f"a record set has blob {error}, which is not stored") from error


def put_record_sets(
    connection: Connection, run: int, as_of: datetime, records: Mapping[int, Sequence[Record]], blobs: Mapping[str, int]
) -> None:
    """Store records of servers, by key, beside those that the run has of them. The first record of a kind stays."""
    added: dict[int, dict[str, StoredRecord]] = {}
    for server, found in records.items():
        for record in found:
            blob = blobs[record.digest] if isinstance(record.content, Observed) else None
            stored = StoredRecord(ShapePart.of(record), blob, RecordNote(record.observed_at, record.observation))
            added.setdefault(server, {}).setdefault(record.kind, stored)
    wanted = _number_attempts(connection, added)
    shapes = _write(connection, run, as_of, wanted)
    others = [server for server, shape in _shape_keys(connection, run, list(wanted)).items() if shape != shapes[server]]
    if not others:
        return
    query = select(RECORD_SET).where(RECORD_SET.c.run_key == run).with_for_update()
    merged: dict[int, dict[str, StoredRecord]] = {}
    for batch in split_batches(sorted(others)):
        rows = connection.execute(
            query.where(RECORD_SET.c.server_key.in_(batch)).order_by(RECORD_SET.c.server_key)
        ).all()
        for server, known in _decode(connection, as_of, rows).items():
            if wanted[server].keys() - known.keys():
                merged[server] = {**wanted[server], **known}
    _write(connection, run, as_of, merged, update=["shape_key", "blobs", "notes"])


def read_record_sets(
    connection: Connection, run: int, as_of: datetime, servers: Mapping[int, Server]
) -> dict[int, dict[str, Record]]:
    """The records of servers in one run by kind, in the order of kinds; raise CorruptBlob when one is damaged."""
    found: dict[int, dict[str, Record]] = {key: {} for key in servers}
    for batch in split_batches(sorted(servers)):
        sets = _decode(connection, as_of, connection.execute(_RECORD_SETS, {"run": run, KEYS: batch}).all())
        stored = [one for records in sets.values() for one in records.values()]
        bodies = read_blobs(connection, (one.blob for one in stored if one.blob is not None))
        notes = _read_sample_notes(connection, sets)
        for server, records in sets.items():
            id_ = servers[server].id
            found[server] = {
                kind: _record(id_, one, notes.get(server) if kind == samples.KIND else None, bodies)
                for kind, one in records.items()
            }
    return found


def read_contents(connection: Connection, run: int, servers: Iterable[int]) -> dict[int, RecordContents]:
    """The contents of the record sets of servers, by key; neither bodies nor notes are read."""
    rows: list[tuple[int, int, bytes]] = []
    for batch in split_batches(sorted(servers)):
        query = select(RECORD_SET.c.server_key, RECORD_SET.c.shape_key, RECORD_SET.c.blobs).where(
            RECORD_SET.c.run_key == run
        )
        rows += [tuple(row) for row in connection.execute(query.where(RECORD_SET.c.server_key.in_(batch)))]
    shapes = read_shapes(connection, (shape for _, shape, _ in rows))
    return {
        server: RecordContents(shapes.get(shape, ()), tuple(unpack_numbers(blobs))) for server, shape, blobs in rows
    }


def check_record_sets(connection: Connection, run: int, as_of: datetime, servers: Sequence[int]) -> list[str]:
    """The problems of the record sets of these servers, by key, in one run; bodies are not read."""
    query = (
        select(RECORD_SET)
        .where(RECORD_SET.c.run_key == run, RECORD_SET.c.server_key.in_(servers))
        .order_by(RECORD_SET.c.server_key)
    )
    rows = connection.execute(query).all()
    shapes = read_shapes(connection, (row.shape_key for row in rows))
    blobs = {row.server_key: unpack_numbers(row.blobs) for row in rows}
    known = find_digests(connection, {blob for found in blobs.values() for blob in found})
    gone = find_discarded(connection, known)
    problems = []
    for row in rows:
        problems += [
            f"record set of server {row.server_key} in run {run}: the body of blob {known[blob]} is gone"
            for blob in blobs[row.server_key]
            if blob in gone
        ]
        try:
            records = _decode_row(as_of, row, shapes)
            for note in _read_sample_notes(connection, {row.server_key: records}).values():
                read_samples(note.observation)
            RecordContents(shapes.get(row.shape_key, ()), tuple(unpack_numbers(row.blobs))).digests(known)
        except CorruptBlob as error:
            problems.append(f"record set of server {row.server_key} in run {run}: {error}")
    return problems


def _number_attempts(connection: Connection, sets: RecordsByServer) -> RecordsByServer:
    """Store the attempts of samples records; in the records their numbers replace them."""
    extracted = {
        server: found
        for server, records in sets.items()
        if samples.KIND in records
        and (found := attempts.extract_attempts(records[samples.KIND].note.observation)) is not None
    }
    numbered = dict(sets)
    for server, numbers in attempts.store_attempts(connection, extracted).items():
        record = sets[server][samples.KIND]
        noted = replace(record, note=RecordNote(record.note.at, {}, numbers))
        numbered[server] = {**sets[server], samples.KIND: noted}
    return numbered


def _write(
    connection: Connection, run: int, as_of: datetime, sets: RecordsByServer, update: Sequence[str] = ()
) -> dict[int, int]:
    """Write whole record sets; return the shape key of each server's."""
    ordered = {server: [records[kind] for kind in sorted(records)] for server, records in sets.items()}
    shapes = {server: tuple(one.part for one in records) for server, records in ordered.items()}
    keys = put_shapes(connection, set(shapes.values()))
    rows = [
        (
            run,
            server,
            keys[shapes[server]],
            pack_numbers(one.blob for one in records if one.blob is not None),
            pack_text(write_notes(as_of, [one.note for one in records])),
        )
        for server, records in ordered.items()
    ]
    insert_rows(connection, RECORD_SET, _COLUMNS, rows, unique=_UNIQUE, update=update)
    return {server: keys[shape] for server, shape in shapes.items()}


def _shape_keys(connection: Connection, run: int, servers: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for batch in split_batches(sorted(servers)):
        query = select(RECORD_SET.c.server_key, RECORD_SET.c.shape_key).where(RECORD_SET.c.run_key == run)
        found |= dict(connection.execute(query.where(RECORD_SET.c.server_key.in_(batch))).all())
    return found


def _decode(
    connection: Connection, as_of: datetime, rows: Sequence[Row[tuple[object, ...]]]
) -> dict[int, dict[str, StoredRecord]]:
    shapes = read_shapes(connection, (row.shape_key for row in rows))
    return {row.server_key: _decode_row(as_of, row, shapes) for row in rows}


def _decode_row(as_of: datetime, row: Row[tuple[object, ...]], shapes: Mapping[int, Shape]) -> dict[str, StoredRecord]:
    contents = RecordContents(shapes.get(row.shape_key, ()), tuple(unpack_numbers(row.blobs)))
    notes = read_notes(as_of, unpack_text(row.notes))
    if len(notes) != len(contents.shape):
        raise CorruptBlob(f"a record set has {len(notes)} notes, {len(contents.shape)} expected")
    pairs = zip(contents.by_kind.items(), notes, strict=True)
    return {kind: StoredRecord(part, blob, note) for (kind, (part, blob)), note in pairs}


def _read_sample_notes(connection: Connection, sets: RecordsByServer) -> dict[int, RecordNote]:
    """The notes of samples records, by server, with their attempts read from the pages."""
    noted = {
        server: note
        for server, records in sets.items()
        if samples.KIND in records and (note := records[samples.KIND].note).attempts is not None
    }
    found = attempts.read_attempts(connection, {server: note.attempts or () for server, note in noted.items()})
    return {server: replace(note, observation=found[server]) for server, note in noted.items()}


def _record(
    server: ServerId, stored: StoredRecord, sample_note: RecordNote | None, bodies: Mapping[int, Observed]
) -> Record:
    note = sample_note or stored.note
    return Record(
        server=server,
        kind=stored.part.kind,
        schema=stored.part.schema,
        collector=stored.part.collector,
        collector_version=stored.part.collector_version,
        observed_at=note.at,
        content=stored.part.absent or bodies[stored.blob or 0],
        observation=note.observation,
    )
