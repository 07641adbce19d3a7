"""Verifies the store: reads every blob and receipt back and follows every reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Column, Connection, Table, func, select

from evidence.store.blobs import Codec, open_blob
from evidence.store.errors import CorruptBlob
from evidence.store.records.record_sets import check_record_sets
from evidence.store.scores.receipts import open_receipts
from evidence.store.scores.scorecards import check_scorings
from evidence.store.sql.bulk_insert import split_batches
from evidence.store.tables.core import METADATA, RUN
from evidence.store.tables.evidence import BLOB, RECEIPT, RECORD_SET, SCORING

_CHUNK = 200


def verify_store(connection: Connection) -> list[str]:
    """Recompute every digest and follow every reference; the problems found, one sentence each."""
    return [
        *_corrupt_blobs(connection),
        *_corrupt_receipts(connection),
        *_corrupt_runs(connection),
        *_dangling(connection),
    ]


def _corrupt_blobs(connection: Connection) -> list[str]:
    problems: list[str] = []
    last = 0
    while rows := connection.execute(select(BLOB).where(BLOB.c.key > last).order_by(BLOB.c.key).limit(_CHUNK)).all():
        for row in rows:
            if row.codec == Codec.GONE:
                continue  # check_record_sets reports the records that need it
            try:
                open_blob(row)
            except CorruptBlob as error:
                problems.append(str(error))
        last = rows[-1].key
    return problems


def _corrupt_receipts(connection: Connection) -> list[str]:
    problems: list[str] = []
    last = 0
    query = select(RECEIPT).order_by(RECEIPT.c.key).limit(_CHUNK)
    while rows := connection.execute(query.where(RECEIPT.c.key > last)).all():
        for row in rows:
            try:
                open_receipts(connection, [row])
            except CorruptBlob as error:
                problems.append(str(error))
        last = rows[-1].key
    return problems


def _corrupt_runs(connection: Connection) -> list[str]:
    """Runs with packed keys of missing rows or with unreadable notes, which no constraint of the database prevents."""
    problems: list[str] = []
    for run, as_of in connection.execute(select(RUN.c.key, RUN.c.as_of).order_by(RUN.c.key)).all():
        for batch in _servers(connection, RECORD_SET, run):
            problems += check_record_sets(connection, run, as_of, batch)
        for batch in _servers(connection, SCORING, run):
            problems += check_scorings(connection, run, batch)
    return problems


def _servers(connection: Connection, table: Table, run: int) -> Iterator[Sequence[int]]:
    query = select(table.c.server_key).where(table.c.run_key == run).order_by(table.c.server_key)
    return split_batches(connection.scalars(query).all())


def _dangling(connection: Connection) -> list[str]:
    """Foreign keys without a row. Both databases enforce them, but a file may be edited or restored in part."""
    return [
        problem
        for table in METADATA.sorted_tables
        for column in table.columns
        if column.foreign_keys and (problem := _dangling_column(connection, column))
    ]


def _dangling_column(connection: Connection, column: Column[int]) -> str:
    referred = next(iter(column.foreign_keys)).column
    target = referred.table.alias().c[referred.name]  # an alias, for a table that refers to itself
    missing = ~select(target).where(target == column).correlate(column.table).exists()
    number = connection.scalar(select(func.count()).select_from(column.table).where(column.is_not(None), missing))
    return f"{number} rows of {column.table.name} have a {column.name} that does not exist" if number else ""
