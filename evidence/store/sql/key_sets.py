"""Rows by a list of keys, as one statement for lists of every length: it is built once, and the database knows it.

What is asked for every page is written so, as a constant with names for its values: building a statement anew, and a
placeholder for each key, takes longer than the database needs to answer it.
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
"""The name of the list among a statement's values."""


class among(FunctionElement[bool]):  # noqa: N801 - it is called like a function of the database
    """Whether a column is one of the values that a statement is executed with as `name`."""

    type = Boolean()
    inherit_cache = True
    _is_implicitly_boolean = True  # else SQLite is asked whether it equals 1, and uses no index

    def __init__(self, column: Column[Any], name: str = KEYS) -> None:
        super().__init__(column, bindparam(name, type_=_Listed(column.type)))


class _Listed(TypeDecorator[Sequence[Any]]):
    """An array on PostgreSQL, JSON on SQLite."""

    impl = Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """By the database."""
        return dialect.type_descriptor(ARRAY(self.item) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> Any:
        """By the database."""
        return value if value is None or dialect.name == "postgresql" else to_json(list(value))


@compiles(among, "sqlite")
def _in_sqlite(element: among, compiler: SQLCompiler, **options: Any) -> str:
    column, keys = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({keys}))"  # noqa: S608 - both were compiled by SQLAlchemy


@compiles(among, "postgresql")
def _in_postgresql(element: among, compiler: SQLCompiler, **options: Any) -> str:
    column, keys = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} = ANY ({keys})"
