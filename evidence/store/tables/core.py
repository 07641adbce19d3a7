"""The tables of servers, runs and findings. Integer keys keep the rows that every run adds small.

Append-only: snapshot, disclosure, run_event, approval. The other tables hold state that changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final

from sqlalchemy import Boolean as Bool
from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    UniqueConstraint,
    and_,
    case,
    false,
    literal_column,
)
from sqlmodel import Field

from evidence.store.tables import listing as _listing  # noqa: F401 - adds its tables to METADATA
from evidence.store.tables.base import TableBase, get_table
from evidence.store.tables.column_types import TextColumn, TimestampColumn
from evidence.store.tables.evidence import BLOB


class ServerTable(TableBase, table=True):
    """One server; `targets` and `seen_in` are ASCII JSON, runs are planned by `host`."""

    __tablename__ = "server"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    ref: str = Field(sa_column=Column(TextColumn, nullable=False))
    name: str = Field(sa_column=Column(TextColumn, nullable=False))
    targets: str = Field(sa_column=Column(TextColumn, nullable=False))
    repository: str | None = Field(sa_column=Column(TextColumn))
    seen_in: str = Field(sa_column=Column(TextColumn, nullable=False))
    host: str = Field(sa_column=Column(TextColumn, nullable=False))

    # A b-tree of PostgreSQL refuses names above 2.7 KB, which a hostile registry may send.
    __table_args__ = (Index("ix_server_name", "name", postgresql_using="hash"), Index("ix_server_host", "host", "key"))


class ServerRefTable(TableBase, table=True):
    """The newest entry that one registry has for a server; `entry_key` is the blob of its bytes.

    `run_key` is the run whose walk saw the entry last; no foreign key, because SQLite cannot add one to a table.
    """

    __tablename__ = "server_ref"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    registry_: str = Field(sa_column=Column("registry", TextColumn, nullable=False))
    name: str = Field(sa_column=Column(TextColumn, nullable=False))
    name_digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False, index=True))
    version: str = Field(sa_column=Column(TextColumn, nullable=False))
    status: str = Field(sa_column=Column(TextColumn, nullable=False))
    entry_key: int = Field(sa_column=Column(ForeignKey("evidence_blob.key"), nullable=False, index=True))
    targets: str = Field(sa_column=Column(TextColumn, nullable=False))
    repository: str | None = Field(sa_column=Column(TextColumn))
    updated_at: datetime | None = Field(sa_column=Column(TimestampColumn))
    error: str | None = Field(sa_column=Column(TextColumn))
    run_key: int | None = Field(sa_column=Column(Integer))

    __table_args__ = (Index("uq_server_ref_registry_name_digest", "registry", "name_digest", unique=True),)


class RunTable(TableBase, table=True):
    """One run; `note` is the reason of its state where it needs one, `plan_position` how far planning is.

    Files of a run show reviews of findings until `reviews_until`: when its publication began.
    `pins`, `options` and `plan_position` are ASCII JSON.
    """

    __tablename__ = "run"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    trigger: str = Field(sa_column=Column(TextColumn, nullable=False))
    as_of: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    pins: str = Field(sa_column=Column(TextColumn, nullable=False))
    options: str = Field(sa_column=Column(TextColumn, nullable=False))
    state: str = Field(sa_column=Column(TextColumn, nullable=False))
    planned_at: datetime | None = Field(sa_column=Column(TimestampColumn))
    published_at: datetime | None = Field(sa_column=Column(TimestampColumn))
    reviews_until: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    note: str | None = Field(default=None, sa_column=Column(TextColumn))
    plan_position: str | None = Field(default=None, sa_column=Column(TextColumn))


class RunEventTable(TableBase, table=True):
    """Actions of operators on a run, and withheld publications: append-only."""

    __tablename__ = "run_event"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), nullable=False, index=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    who: str = Field(sa_column=Column(TextColumn, nullable=False))
    what: str = Field(sa_column=Column(TextColumn, nullable=False))
    note: str = Field(sa_column=Column(TextColumn, nullable=False))


class WalkTable(TableBase, table=True):
    """The progress of a run's walk over one registry."""

    __tablename__ = "walk"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    registry_: str = Field(sa_column=Column("registry", TextColumn, primary_key=True))
    cursor: str | None = Field(sa_column=Column(TextColumn))
    pages: int = Field(sa_column=Column(Integer, nullable=False))
    entries: int = Field(sa_column=Column(Integer, nullable=False))
    invalid: int = Field(sa_column=Column(Integer, nullable=False))
    done: bool = Field(sa_column=Column(Bool, nullable=False))
    error: str | None = Field(sa_column=Column(TextColumn))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))


class WatermarkTable(TableBase, table=True):
    """When the newest complete walk over a registry began."""

    __tablename__ = "watermark"

    registry_: str = Field(sa_column=Column("registry", TextColumn, primary_key=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))


class RunItemTable(TableBase, table=True):
    """One server's progress through one stage of one run.

    `leases` counts the leases without a result, `token` counts all leases and never goes back, `not_before` delays the
    item, and a `carried` server keeps the evidence of an earlier run because it is not due.
    """

    __tablename__ = "run_item"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    stage: str = Field(sa_column=Column(TextColumn, primary_key=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    attempts: int = Field(sa_column=Column(SmallInteger, nullable=False))
    last_error: str | None = Field(sa_column=Column(TextColumn))
    done_at: datetime | None = Field(sa_column=Column(TimestampColumn))
    leased_by: str | None = Field(sa_column=Column(TextColumn))
    leased_until: datetime | None = Field(sa_column=Column(TimestampColumn))
    leases: int = Field(default=0, sa_column=Column(SmallInteger, nullable=False, server_default="0"))
    token: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    not_before: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    carried: bool = Field(default=False, sa_column=Column(Bool, nullable=False, server_default=false()))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class DroppedItemTable(TableBase, table=True):
    """How many items of a stage of a final run were dropped (`planned`), how many of them were done, their attempts."""

    __tablename__ = "dropped_item"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    stage: str = Field(sa_column=Column(TextColumn, primary_key=True))
    carried: bool = Field(sa_column=Column(Bool, primary_key=True))
    planned: int = Field(sa_column=Column(Integer, nullable=False))
    done: int = Field(sa_column=Column(Integer, nullable=False))
    attempts: int = Field(sa_column=Column(Integer, nullable=False))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class FullProbeTable(TableBase, table=True):
    """The run of the full probe after a re-test; no run where no probe was needed."""

    __tablename__ = "full_probe"

    retest_key: int = Field(sa_column=Column(ForeignKey("retest_request.key"), primary_key=True, autoincrement=False))
    run_key: int | None = Field(sa_column=Column(ForeignKey("run.key"), index=True))


class SampleTable(TableBase, table=True):
    """One probe between two runs; dropped after the runs that use it. See availability_samples.NO_SAMPLE."""

    __tablename__ = "sample"

    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), primary_key=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, primary_key=True))
    failure: str = Field(sa_column=Column(TextColumn, nullable=False))
    cold_ms: float | None = Field(sa_column=Column(Double))
    warm_ms: float | None = Field(sa_column=Column(Double))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


class FindingTable(TableBase, table=True):
    """One finding of our own scans and its disclosure; `vendor_informed_at` is when its vendor was notified."""

    __tablename__ = "finding"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False, index=True))
    rule: str = Field(sa_column=Column(TextColumn, nullable=False))
    at: str = Field(sa_column=Column(TextColumn, nullable=False))
    message: str = Field(sa_column=Column(TextColumn, nullable=False))
    severity: str = Field(sa_column=Column(TextColumn, nullable=False))
    content: str = Field(sa_column=Column(TextColumn, nullable=False))
    first_seen: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    last_seen: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    state: str = Field(sa_column=Column(TextColumn, nullable=False, index=True))
    since: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    vendor_informed_at: datetime | None = Field(sa_column=Column(TimestampColumn))


class DisclosureTable(TableBase, table=True):
    """The audit trail of findings: one row per change, never altered. `recipient` is the notified party."""

    __tablename__ = "disclosure"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    finding_key: int = Field(sa_column=Column(ForeignKey("finding.key"), nullable=False, index=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    who: str = Field(sa_column=Column(TextColumn, nullable=False))
    before: str = Field(sa_column=Column(TextColumn, nullable=False))
    after: str = Field(sa_column=Column(TextColumn, nullable=False))
    note: str = Field(sa_column=Column(TextColumn, nullable=False))
    recipient: str | None = Field(sa_column=Column(TextColumn))


class ApprovalTable(TableBase, table=True):
    """One approval of a listing by an operator, never altered; `listing` is the digest in the kind `drift`."""

    __tablename__ = "approval"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False))
    listing: str = Field(sa_column=Column(TextColumn, nullable=False))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    who: str = Field(sa_column=Column(TextColumn, nullable=False))
    note: str = Field(sa_column=Column(TextColumn, nullable=False))

    __table_args__ = (UniqueConstraint("server_key", "listing"),)


class OpinionTable(TableBase, table=True):
    """The opinion of a judge about one text, never altered and never public; `digest` is that of the question."""

    __tablename__ = "opinion"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False, unique=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class RetestTable(TableBase, table=True):
    """One request for a re-test. `client` is a digest of the client, `before_key` the run compared with."""

    __tablename__ = "retest_request"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False, index=True))
    client: str = Field(sa_column=Column(TextColumn, nullable=False))
    asked_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    state: str = Field(sa_column=Column(TextColumn, nullable=False, index=True))
    reason: str | None = Field(default=None, sa_column=Column(TextColumn))
    run_key: int | None = Field(default=None, sa_column=Column(ForeignKey("run.key")))
    before_key: int | None = Field(default=None, sa_column=Column(ForeignKey("run.key")))
    admitted_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    finished_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn, index=True))


class OptOutTable(TableBase, table=True):
    """Opt-outs: by `scope`, `value` is a domain, a host or a server. Revoked, not deleted."""

    __tablename__ = "opt_out"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    scope: str = Field(sa_column=Column(TextColumn, nullable=False))
    value: str = Field(sa_column=Column(TextColumn, nullable=False))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    who: str = Field(sa_column=Column(TextColumn, nullable=False))
    note: str = Field(sa_column=Column(TextColumn, nullable=False))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))


class SnapshotTable(TableBase, table=True):
    """The manifest of a published run."""

    __tablename__ = "snapshot"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True))
    manifest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))


class PublicationPartTable(TableBase, table=True):
    """A part of a run that is being published; dropped when the run changes its state.

    `servers` is JSON of the keys of its servers in the order of their ids, `first` the place of the first of them in
    the edition of the listing index. A part with `counts` is done.
    """

    __tablename__ = "publication_part"

    run_key: int = Field(sa_column=Column(ForeignKey("run.key"), primary_key=True, autoincrement=False))
    number: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    edition: int = Field(sa_column=Column(Integer, nullable=False))
    first: int = Field(sa_column=Column(Integer, nullable=False))
    servers: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    token: int = Field(default=0, sa_column=Column(Integer, nullable=False, server_default="0"))
    leased_until: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    counts: bytes | None = Field(default=None, sa_column=Column(LargeBinary))

    __table_args__: ClassVar[Any] = {"sqlite_with_rowid": False}


METADATA = BLOB.metadata
SERVER = get_table(ServerTable)
SERVER_REF = get_table(ServerRefTable)
RUN = get_table(RunTable)
WALK = get_table(WalkTable)
WATERMARK = get_table(WatermarkTable)
RUN_ITEM = get_table(RunItemTable)
DROPPED_ITEM = get_table(DroppedItemTable)
SAMPLE = get_table(SampleTable)
FINDING = get_table(FindingTable)
DISCLOSURE = get_table(DisclosureTable)
APPROVAL = get_table(ApprovalTable)
OPINION = get_table(OpinionTable)
SNAPSHOT = get_table(SnapshotTable)
PUBLICATION_PART = get_table(PublicationPartTable)
RUN_EVENT = get_table(RunEventTable)
RETEST = get_table(RetestTable)
FULL_PROBE = get_table(FullProbeTable)
OPT_OUT = get_table(OptOutTable)

# Leasing takes the first few open items; the cost must not grow with the done or the waiting ones.
_OPEN = RUN_ITEM.c.done_at.is_(None)
_FIRST = (RUN_ITEM.c.run_key, RUN_ITEM.c.stage, RUN_ITEM.c.not_before, RUN_ITEM.c.server_key)
Index("ix_run_item_waiting", *_FIRST, sqlite_where=_OPEN, postgresql_where=_OPEN)

# Expired leases are searched among the leased items only: a few thousand, however many items wait.
IS_LEASED_OUT = and_(_OPEN, RUN_ITEM.c.leases > literal_column("0"))
_HELD = (RUN_ITEM.c.run_key, RUN_ITEM.c.leased_until)
Index("ix_run_item_handed_out", *_HELD, sqlite_where=IS_LEASED_OUT, postgresql_where=IS_LEASED_OUT)

RELEASED_LEASE: Final[Mapping[str, Any]] = {
    # Undoes the count of this lease only; earlier leases without a result stay counted.
    "leases": case(
        (and_(RUN_ITEM.c.leased_by.is_not(None), RUN_ITEM.c.leases > 0), RUN_ITEM.c.leases - 1),
        else_=RUN_ITEM.c.leases,
    ),
    "leased_by": None,
    "leased_until": None,
}
"""The new values of an item whose lease its holder or an operator releases."""
