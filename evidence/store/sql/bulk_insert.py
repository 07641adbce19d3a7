"""Many rows in one statement: executemany on SQLite, an INSERT of one array per column on PostgreSQL.

The names in these statements are those of our own tables and columns; every value is bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.types import TypeDecorator

Row: TypeAlias = tuple[Any, ...]
Item = TypeVar("Item")

# Bind parameters of one statement; below every limit of both databases.
BATCH_SIZE: Final = 500


def split_batches(items: Sequence[Item], size: int = BATCH_SIZE) -> Iterator[Sequence[Item]]:
    """Split a sequence into parts that fit one statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def insert_rows(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    unique: Sequence[str],
    update: Sequence[str] = (),
) -> None:
    """Insert rows; where a row with equal `unique` columns exists, keep it or overwrite its `update` columns.

    Rows are written in the order of their unique columns, so that concurrent writers cannot deadlock.
    """
    places = [columns.index(name) for name in unique]
    by_key = {tuple(row[place] for place in places): row for row in reversed(rows)}
    if update:
        by_key |= {tuple(row[place] for place in places): row for row in rows}
    ordered = _bound(connection, table, columns, [by_key[key] for key in sorted(by_key)])
    if not ordered:
        return
    if connection.dialect.name == "sqlite":
        _insert_sqlite(connection, table, columns, ordered, _on_conflict(table, unique, update, "IS NOT"))
    else:
        conflict = _on_conflict(table, unique, update, "IS DISTINCT FROM")
        _insert_postgresql(connection, table, columns, ordered, conflict)


def _bound(connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with the values of our own column types converted for the driver."""
    types = [table.c[name].type for name in columns]
    convert = {
        place: type_.bind_processor(connection.dialect)
        for place, type_ in enumerate(types)
        if isinstance(type_, TypeDecorator)
    }
    if not convert:
        return rows
    bound = []
    for row in rows:
        values = list(row)
        for place, processor in convert.items():
            if processor is not None:
                values[place] = processor(values[place])
        bound.append(tuple(values))
    return bound


def _on_conflict(table: Table, unique: Sequence[str], update: Sequence[str], differs: str) -> str:
    if not update:
        return f"ON CONFLICT ({', '.join(unique)}) DO NOTHING"
    assignments = ", ".join(f"{name} = excluded.{name}" for name in update)
    # An update that changes nothing would still rewrite the row on PostgreSQL.
    changed = " OR ".join(f"{table.name}.{name} {differs} excluded.{name}" for name in update)
    return f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {assignments} WHERE {changed}"


def _insert_sqlite(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row], conflict: str
) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join("?" * len(columns))
    connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({values}) {conflict}", list(rows))  # noqa: S608


def _insert_postgresql(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row], conflict: str
) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    types = [table.c[name].type.compile(connection.dialect).partition(" COLLATE")[0] for name in columns]
    arrays = ", ".join(f"%b::{type_}[]" for type_ in types)
    statement = f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({arrays}) {conflict}"  # noqa: S608
    cursor: Any = connection.connection.cursor()
    try:
        for batch in split_batches(rows):
            cursor.execute(statement, [list(values) for values in zip(*batch, strict=True)])
    finally:
        cursor.close()
