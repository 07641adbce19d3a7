"""The tables of evidence and receipts. A night without changes costs a row a server in two of them.

Append-only: evidence_blob, evidence_shape, evidence_part, receipt. Visits, scorings and attempts only gain; what is
dropped of them by compacting is noted.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Boolean as Bool
from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, SmallInteger
from sqlmodel import Field

from evidence.store.tables.base import TableBase, get_table
from evidence.store.tables.column_types import TextColumn, TimestampColumn


class EvidenceBlobTable(TableBase, table=True):
    """Bytes addressed by their SHA-256. `canonical` is null when they are uncanonicalisable; see blobs.Codec."""

    __tablename__ = "evidence_blob"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    canonical: bytes | None = Field(sa_column=Column(LargeBinary))
    codec: int = Field(sa_column=Column(SmallInteger, nullable=False))
    size: int = Field(sa_column=Column(Integer, nullable=False))
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__ = (Index("uq_evidence_blob_digest", "digest", unique=True),)


class EvidenceShapeTable(TableBase, table=True):
    """What sort of records a visit gave: its parts, told by their digest. Few, and shared by most visits."""

    __tablename__ = "evidence_shape"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__ = (Index("uq_evidence_shape_digest", "digest", unique=True),)


class EvidencePartTable(TableBase, table=True):
    """One kind of a shape: who recorded it, and why there is no payload unless there is one."""

    __tablename__ = "evidence_part"

    shape_key: int = Field(sa_column=Column(ForeignKey("evidence_shape.key"), primary_key=True))
    kind: str = Field(sa_column=Column(TextColumn, primary_key=True))
    schema_: int = Field(sa_column=Column("schema", SmallInteger, nullable=False))
    collector: str = Field(sa_column=Column(TextColumn, nullable=False))
    collector_version: int = Field(sa_column=Column(SmallInteger, nullable=False))
    reason: str | None = Field(sa_column=Column(TextColumn))
    detail: str | None = Field(sa_column=Column(TextColumn))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class EvidenceVisitTable(TableBase, table=True):
    """All records of one server in one run: their sort, the blobs of those that have one, and what the visit was like.

    `blobs` are the keys in the order of kinds (packing.pack_numbers), `notes` see notes.py and packing.pack_text.
    """

    __tablename__ = "evidence_visit"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    shape_key: int = Field(sa_column=Column(ForeignKey("evidence_shape.key"), nullable=False))
    blobs: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    notes: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class EvidenceAttemptsTable(TableBase, table=True):
    """A page of attempts to connect to a server; see attempts.py."""

    __tablename__ = "evidence_attempts"

    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    page: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    attempts: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class ReceiptTable(TableBase, table=True):
    """One scorecard without what changes every night, told by a digest of all other columns and so shared by nights.

    `score` is an exact decimal as text. `body` has holes for date and evidence if `is_open`; it is packed like a
    blob's, or by what it has in common with the body of `base_key`, which is packed by itself.
    """

    __tablename__ = "receipt"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    rubric: str = Field(sa_column=Column(TextColumn, nullable=False))
    version: int = Field(sa_column=Column(SmallInteger, nullable=False))
    score: str | None = Field(sa_column=Column(TextColumn))
    grade: str | None = Field(sa_column=Column(TextColumn))
    is_open: bool = Field(sa_column=Column(Bool, nullable=False))
    codec: int = Field(sa_column=Column(SmallInteger, nullable=False))
    size: int = Field(sa_column=Column(Integer, nullable=False))
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    base_key: int | None = Field(sa_column=Column(ForeignKey("receipt.key")))

    __table_args__ = (Index("uq_receipt_digest", "digest", unique=True),)


class ScoringTable(TableBase, table=True):
    """All receipts of one server in one run, and the evidence that they list: keys as in a visit."""

    __tablename__ = "scoring"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    shape_key: int = Field(sa_column=Column(ForeignKey("evidence_shape.key"), nullable=False))
    blobs: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    receipts: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class CompactionTable(TableBase, table=True):
    """What was dropped of a run, and when: a scorecard whose evidence is gone can say so. See compacting.py."""

    __tablename__ = "compaction"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    visits: int = Field(sa_column=Column(Integer, nullable=False))
    done: bool = Field(sa_column=Column(Bool, nullable=False))


BLOB = get_table(EvidenceBlobTable)
SHAPE = get_table(EvidenceShapeTable)
PART = get_table(EvidencePartTable)
VISIT = get_table(EvidenceVisitTable)
ATTEMPTS = get_table(EvidenceAttemptsTable)
RECEIPT = get_table(ReceiptTable)
SCORING = get_table(ScoringTable)
COMPACTION = get_table(CompactionTable)
