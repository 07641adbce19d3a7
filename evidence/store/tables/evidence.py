"""The tables of evidence and receipts. A run without changes adds one row for each server to two of them.

Append-only: evidence_blob, evidence_shape, evidence_part, receipt. Rows of record sets, scorings and attempts gain
values; `compaction` counts the record sets that were dropped.
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
    """The shape of record sets, identified by the digest of its parts. Few shapes, each shared by many sets."""

    __tablename__ = "evidence_shape"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__ = (Index("uq_evidence_shape_digest", "digest", unique=True),)


class EvidencePartTable(TableBase, table=True):
    """One kind of a shape: its collector, and the reason where there is no payload."""

    __tablename__ = "evidence_part"

    shape_key: int = Field(sa_column=Column(ForeignKey("evidence_shape.key"), primary_key=True))
    kind: str = Field(sa_column=Column(TextColumn, primary_key=True))
    schema_: int = Field(sa_column=Column("schema", SmallInteger, nullable=False))
    collector: str = Field(sa_column=Column(TextColumn, nullable=False))
    collector_version: int = Field(sa_column=Column(SmallInteger, nullable=False))
    reason: str | None = Field(sa_column=Column(TextColumn))
    detail: str | None = Field(sa_column=Column(TextColumn))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class RecordSetTable(TableBase, table=True):
    """All records of one server in one run: their shape, the blobs of their payloads, and their notes.

    `blobs` are the keys in the order of kinds (packing.pack_numbers), `notes` a packed text (records/record_notes.py).
    """

    __tablename__ = "record_set"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    shape_key: int = Field(sa_column=Column(ForeignKey("evidence_shape.key"), nullable=False))
    blobs: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    notes: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class EvidenceAttemptsTable(TableBase, table=True):
    """A page of attempts to connect to a server; see records/attempt_pages.py."""

    __tablename__ = "evidence_attempts"

    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    page: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    attempts: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class ReceiptTable(TableBase, table=True):
    """One scorecard without date and evidence, identified by a digest of its other columns and shared by runs.

    `score` is an exact decimal as text. `body` is a template if `is_open`. It is compressed like a blob's, or with the
    body of `base_key` as the dictionary.
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
    """All receipts of one server in one run, and the evidence that they list: keys as in a record set."""

    __tablename__ = "scoring"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    shape_key: int = Field(sa_column=Column(ForeignKey("evidence_shape.key"), nullable=False))
    blobs: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    receipts: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class CompactionTable(TableBase, table=True):
    """What was dropped of a run, and when. See retention/record_retention.py."""

    __tablename__ = "compaction"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    record_sets: int = Field(sa_column=Column(Integer, nullable=False))
    done: bool = Field(sa_column=Column(Bool, nullable=False))


BLOB = get_table(EvidenceBlobTable)
SHAPE = get_table(EvidenceShapeTable)
PART = get_table(EvidencePartTable)
RECORD_SET = get_table(RecordSetTable)
ATTEMPTS = get_table(EvidenceAttemptsTable)
RECEIPT = get_table(ReceiptTable)
SCORING = get_table(ScoringTable)
COMPACTION = get_table(CompactionTable)
