"""Is the store sound? Every blob is read back, every reference is followed."""

from __future__ import annotations

from sqlalchemy import Column, Connection, func, select

from evidence.store.blobs import open_blob, unpack
from evidence.store.errors import CorruptBlob
from evidence.store.models import BLOB, METADATA, SCORECARD

_CHUNK = 200


def verify(connection: Connection) -> list[str]:
    """What is wrong, one sentence each; empty when the store is sound."""
    return [*_corrupt_blobs(connection), *_corrupt_scorecards(connection), *_dangling(connection)]


def _corrupt_blobs(connection: Connection) -> list[str]:
    problems: list[str] = []
    last = 0
    while rows := connection.execute(select(BLOB).where(BLOB.c.key > last).order_by(BLOB.c.key).limit(_CHUNK)).all():
        for row in rows:
            try:
                open_blob(row)
            except CorruptBlob as error:
                problems.append(str(error))
        last = rows[-1].key
    return problems


def _corrupt_scorecards(connection: Connection) -> list[str]:
    problems: list[str] = []
    for row in connection.execute(select(SCORECARD).execution_options(yield_per=_CHUNK)):
        name = f"scorecard {row.run_key}/{row.server_key} {row.rubric}@{row.version}"
        try:
            unpack(row.codec, row.size, row.body, name=name)
        except CorruptBlob as error:
            problems.append(str(error))
    return problems


def _dangling(connection: Connection) -> list[str]:
    """Both databases enforce these; a file edited by hand or restored in part need not."""
    return [
        problem
        for table in METADATA.sorted_tables
        for column in table.columns
        if column.foreign_keys and (problem := _dangling_column(connection, column))
    ]


def _dangling_column(connection: Connection, column: Column[int]) -> str:
    target = next(iter(column.foreign_keys)).column
    missing = ~select(target).where(target == column).correlate(column.table).exists()
    number = connection.scalar(select(func.count()).select_from(column.table).where(column.is_not(None), missing))
    return f"{number} rows of {column.table.name} have a {column.name} that does not exist" if number else ""
