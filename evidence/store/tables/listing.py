"""The tables of the listing index: what lists and the dashboard show of the newest published run. Rebuildable.

Rows belong to an edition, which is not read before it is complete. `place` is a server's number within an edition, in
the order of server ids, and breaks every tie. The full-text table `listing_text` is in listing/word_search.py.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, SmallInteger
from sqlalchemy import Boolean as Bool
from sqlmodel import Field

from evidence.store.tables.base import TableBase, get_table
from evidence.store.tables.column_types import TextColumn, TimestampColumn


class ListingEditionTable(TableBase, table=True):
    """One edition: its run and the dashboard's numbers, which stay when its rows are dropped.

    `rubrics`, `kinds` and `facets` are ASCII JSON: the rubric versions in the order of their numbers, the filter
    groups, each with its number of servers, and the facets in the order of their bits.
    """

    __tablename__ = "listing_edition"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), nullable=False, index=True))
    ready: bool = Field(sa_column=Column(Bool, nullable=False))
    servers: int = Field(sa_column=Column(Integer, nullable=False))
    rubrics: str = Field(sa_column=Column(TextColumn, nullable=False))
    kinds: str = Field(sa_column=Column(TextColumn, nullable=False))
    facets: str = Field(sa_column=Column(TextColumn, nullable=False))
    front: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class ListingServerTable(TableBase, table=True):
    """One server of an edition; `name` is the beginning of its name as a sort key, `body` JSON of the rest."""

    __tablename__ = "listing_server"

    edition: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    place: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False))
    name: str = Field(sa_column=Column(TextColumn, nullable=False))
    seen: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    kind: int = Field(sa_column=Column(Integer, nullable=False))
    facets: int = Field(sa_column=Column(BigInteger, nullable=False))
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__ = (
        Index("ix_listing_server_server_key_edition", "server_key", "edition"),
        {"sqlite_with_rowid": False},
    )


class ListingOrderTable(TableBase, table=True):
    """A server's rank in one order: by name, by date, or by a rubric version, with its grade and score."""

    __tablename__ = "listing_order"

    edition: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    sort: int = Field(sa_column=Column(SmallInteger, primary_key=True, autoincrement=False))
    place: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    rank: int = Field(sa_column=Column(BigInteger, nullable=False))
    kind: int = Field(sa_column=Column(Integer, nullable=False))
    facets: int = Field(sa_column=Column(BigInteger, nullable=False))
    grade: str | None = Field(sa_column=Column(TextColumn))
    score: int | None = Field(sa_column=Column(Integer))

    # Contains all columns of the filters, so that a list is read from the index alone.
    __table_args__ = (
        Index("ix_listing_order_walk", "edition", "sort", "rank", "place", "kind", "facets", "grade", "score"),
        {"sqlite_with_rowid": False},
    )


class ListingHiddenTable(TableBase, table=True):
    """A server that opted out since the run: no list and no page shows it."""

    __tablename__ = "listing_hidden"

    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True, autoincrement=False))


class ListingWithheldTable(TableBase, table=True):
    """A server whose results in one run are never public, also when a later run is shown."""

    __tablename__ = "listing_withheld"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True, autoincrement=False))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True, autoincrement=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


LISTING_EDITION = get_table(ListingEditionTable)
LISTING_SERVER = get_table(ListingServerTable)
LISTING_ORDER = get_table(ListingOrderTable)
LISTING_HIDDEN = get_table(ListingHiddenTable)
LISTING_WITHHELD = get_table(ListingWithheldTable)
