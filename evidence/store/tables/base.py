"""The base class of all tables of the store."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import MetaData, Table
from sqlmodel import SQLModel

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class TableBase(SQLModel):
    """Base of all tables, with metadata of its own."""

    metadata: ClassVar[MetaData] = MetaData(naming_convention=_NAMES)


def get_table(model: type[TableBase]) -> Table:
    table: Any = model.__table__  # type: ignore[attr-defined]
    assert isinstance(table, Table)
    return table
