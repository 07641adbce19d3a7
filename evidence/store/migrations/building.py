"""Creates tables, columns and indexes in migrations, named by the conventions of the models.

Types are spelled out here, not taken from the models, so that a migration stays what it was when a model changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def table(
    name: str,
    *columns: sa.Column[Any],
    primary: tuple[str, ...] = ("key",),
    foreign: Mapping[str, str] | None = None,
    unique: tuple[tuple[str, ...], ...] = (),
    rowid: bool = True,
) -> None:
    """Create a table; without `primary` it gets an integer `key`. `foreign` maps columns to the tables referred to."""
    op.create_table(
        name,
        *(integers("key") if primary == ("key",) else ()),
        *columns,
        *(
            sa.ForeignKeyConstraint([column], [f"{other}.key"], name=f"fk_{name}_{column}")
            for column, other in (foreign or {}).items()
        ),
        sa.PrimaryKeyConstraint(*primary, name=f"pk_{name}"),
        *(sa.UniqueConstraint(*names, name=f"uq_{name}_{'_'.join(names)}") for names in unique),
        **({} if rowid else {"sqlite_with_rowid": False}),
    )


def index(
    table_name: str, *columns: str, name: str = "", unique: bool = False, where: str = "", using: str = "btree"
) -> None:
    """Create an index, partial with `where`; `using` is the access method on PostgreSQL."""
    condition = sa.text(where) if where else None
    op.create_index(
        name or f"{'uq' if unique else 'ix'}_{table_name}_{'_'.join(columns)}",
        table_name,
        list(columns),
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
        postgresql_using=using,
    )


def texts(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    """Columns of text, compared by code point."""
    return _columns(names, _TEXT, options)


def moments(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    """Columns of times; microseconds since 1970 on SQLite."""
    return _columns(names, _MOMENT, options)


def binaries(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    return _columns(names, sa.LargeBinary(), options)


def booleans(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    return _columns(names, sa.Boolean(), options)


def doubles(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    return _columns(names, sa.Double(), options)


def small_integers(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    return _columns(names, sa.SmallInteger(), options)


def integers(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    return _columns(names, sa.Integer(), options)


def big_integers(*names: str, **options: Any) -> Iterator[sa.Column[Any]]:
    return _columns(names, sa.BigInteger(), options)


def _columns(names: tuple[str, ...], kind: Any, options: Mapping[str, Any]) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind, **{"nullable": False, **options}) for name in names)
