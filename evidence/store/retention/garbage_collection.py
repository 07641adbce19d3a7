"""Garbage collection of bodies that no record needs: a digest that a receipt names is kept, others are deleted too.

Three steps avoid long transactions and a list of all bodies: mark needed blobs, list the others, and sweep them in
parts. A sweep excludes other writers and first marks what was written since the marking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, Select, Table, delete, func, or_, select, update

from evidence.store.blobs import Codec
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.sql.packing import unpack_numbers
from evidence.store.tables.core import RUN, SERVER_REF
from evidence.store.tables.evidence import BLOB, RECORD_SET, SCORING
from evidence.store.values import FINAL_STATES

_ROWS: Final = 5_000

_UNKNOWN, _NAMED, _NEEDED = 0, 1, 2


class BlobMarks(Struct, frozen=True):
    """A mark for every blob key: unknown, named by a receipt, or needed by a record or registry entry."""

    marks: bytearray
    newest_run: int

    def raise_marks(self, keys: Sequence[int], mark: int) -> None:
        """Raise the marks of blobs; blobs newer than the marking are ignored."""
        for key in keys:
            if key < len(self.marks) and self.marks[key] < mark:
                self.marks[key] = mark

    def list_unreferenced(self) -> Iterator[tuple[int, bool]]:
        """The keys of blobs whose body is not needed, each with whether its digest is."""
        for key, mark in enumerate(self.marks):
            if key and mark < _NEEDED:
                yield key, mark == _NAMED


class CollectedGarbage(Struct, frozen=True, kw_only=True):
    """The number of bodies dropped whose digest stays, of blobs deleted, and the freed bytes."""

    given_up: int = 0
    deleted: int = 0
    freed: int = 0

    def __add__(self, other: CollectedGarbage) -> CollectedGarbage:
        return CollectedGarbage(
            given_up=self.given_up + other.given_up,
            deleted=self.deleted + other.deleted,
            freed=self.freed + other.freed,
        )


def begin_marking(connection: Connection) -> BlobMarks:
    """Marks for all stored blobs, each unknown."""
    newest = connection.scalar(select(func.max(BLOB.c.key))) or 0
    return BlobMarks(bytearray(newest + 1), connection.scalar(select(func.max(RUN.c.key))) or 0)


def list_run_keys(connection: Connection) -> list[int]:
    return list(connection.scalars(select(RUN.c.key).order_by(RUN.c.key)))


def mark_registry_entries(connection: Connection, marks: BlobMarks) -> None:
    marks.raise_marks(list(connection.scalars(select(SERVER_REF.c.entry_key))), _NEEDED)


def mark_run(connection: Connection, marks: BlobMarks, run: int) -> None:
    """Mark the blobs that the records of a run need and those that its receipts name."""
    for table, mark in ((RECORD_SET, _NEEDED), (SCORING, _NAMED)):
        for keys in _blobs_of(connection, table, run):
            marks.raise_marks(keys, mark)


def sweep_blobs(
    connection: Connection, marks: BlobMarks, part: Sequence[tuple[int, bool]], since: datetime
) -> CollectedGarbage:
    """Drop the bodies of a part that are still not needed. The caller holds the exclusive write lock.

    Runs that are newer than the marking, unfinished, or as of `since` or later are marked again first.
    """
    mark_registry_entries(connection, marks)
    younger = (RUN.c.as_of >= since, RUN.c.key > marks.newest_run, RUN.c.state.not_in(FINAL_STATES))
    recent = select(RUN.c.key).where(or_(*younger))
    for run in connection.scalars(recent).all():
        mark_run(connection, marks, run)
    named = [key for key, _ in part if marks.marks[key] == _NAMED]
    unknown = [key for key, _ in part if marks.marks[key] == _UNKNOWN]
    return _give_up(connection, named) + _delete(connection, unknown)


def _give_up(connection: Connection, keys: Sequence[int]) -> CollectedGarbage:
    swept = CollectedGarbage()
    for batch in split_batches(keys):
        whole = (BLOB.c.key.in_(batch), BLOB.c.codec != Codec.GONE)
        count, size = connection.execute(_sizes().where(*whole)).one()
        connection.execute(update(BLOB).where(*whole).values(codec=Codec.GONE, body=b""))
        swept += CollectedGarbage(given_up=count, freed=size)
    return swept


def _delete(connection: Connection, keys: Sequence[int]) -> CollectedGarbage:
    swept = CollectedGarbage()
    for batch in split_batches(keys):
        count, size = connection.execute(_sizes().where(BLOB.c.key.in_(batch))).one()
        connection.execute(delete(BLOB).where(BLOB.c.key.in_(batch)))
        swept += CollectedGarbage(deleted=count, freed=size)
    return swept


def _sizes() -> Select[int, int]:
    return select(func.count(), func.coalesce(func.sum(func.length(BLOB.c.body)), 0))


def _blobs_of(connection: Connection, table: Table, run: int) -> Iterator[list[int]]:
    """The blob keys of the record sets or scorings of a run, in parts."""
    last = 0
    query = select(table.c.server_key, table.c.blobs).where(table.c.run_key == run).order_by(table.c.server_key)
    while rows := connection.execute(query.where(table.c.server_key > last).limit(_ROWS)).all():
        yield [key for _, packed in rows for key in unpack_numbers(packed)]
        last = rows[-1].server_key
