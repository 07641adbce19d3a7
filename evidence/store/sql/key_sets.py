"""A condition that selects rows by a list of keys: one statement for lists of every length.

Frequent queries are constants with named values: building a statement with a placeholder for each key takes longer than
the database needs to execute it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Boolean, Column, Dialect, Text, bindparam
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from evidence.store.sql.json_columns import to_json

KEYS: Final = "keys"
"""The name of the list in the values of a statement."""


class matches_any(FunctionElement[bool]):  # noqa: N801 - it is used like a function of the database
    """True where a column equals one of the values that the statement is executed with as `name`."""

    type = Boolean()
    inherit_cache = True
    _is_implicitly_boolean = True  # otherwise SQLite compares it with 1 and uses no index

    def __init__(self, column: Column[Any], name: str = KEYS) -> None:
        super().__init__(column, bindparam(name, type_=_KeyList(column.type)))


class _KeyList(TypeDecorator[Sequence[Any]]):
    """An array on PostgreSQL, JSON on SQLite."""

    impl = Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(ARRAY(self.item) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> Any:
        return value if value is None or dialect.name == "postgresql" else to_json(list(value))


@compiles(matches_any, "sqlite")
def _in_sqlite(element: matches_any, compiler: SQLCompiler, **options: Any) -> str:
    column, keys = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({keys}))"  # noqa: S608 - both were compiled by SQLAlchemy


@compiles(matches_any, "postgresql")
def _in_postgresql(element: matches_any, compiler: SQLCompiler, **options: Any) -> str:
    column, keys = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} = ANY ({keys})"
