"""The tables of disputes, API tokens, claims of control, webhooks, and the audit trail.

Append-only: dispute_act, audit.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, Column, ForeignKey, Integer, LargeBinary, SmallInteger, UniqueConstraint
from sqlmodel import Field

from evidence.store.tables.base import TableBase, get_table
from evidence.store.tables.column_types import TextColumn, TimestampColumn


class DisputeTable(TableBase, table=True):
    """A disputed line of a receipt. `contact` is private; `client` is a digest of the client's address.

    `line` is a digest of server, rubric, cited id and place, by which the disputes of one line are counted. With
    `is_shown` the reason is public.
    """

    __tablename__ = "dispute"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False, index=True))
    line: bytes = Field(sa_column=Column(LargeBinary, nullable=False, index=True))
    run: str = Field(sa_column=Column(TextColumn, nullable=False))
    rubric: str = Field(sa_column=Column(TextColumn, nullable=False))
    version: int = Field(sa_column=Column(SmallInteger, nullable=False))
    cites: str = Field(sa_column=Column(TextColumn, nullable=False))
    rule: str | None = Field(sa_column=Column(TextColumn))
    at: str = Field(sa_column=Column(TextColumn, nullable=False))
    why: str = Field(sa_column=Column(TextColumn, nullable=False))
    reason: str = Field(sa_column=Column(TextColumn, nullable=False))
    contact: str | None = Field(sa_column=Column(TextColumn))
    client: str = Field(sa_column=Column(TextColumn, nullable=False, index=True))
    by_maintainer: bool = Field(sa_column=Column(Boolean, nullable=False))
    filed_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    state: str = Field(sa_column=Column(TextColumn, nullable=False, index=True))
    is_shown: bool = Field(sa_column=Column(Boolean, nullable=False))
    answer: str | None = Field(default=None, sa_column=Column(TextColumn))
    decided_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))


class DisputeActTable(TableBase, table=True):
    """Decisions about disputes: one row per decision, never altered."""

    __tablename__ = "dispute_act"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    dispute_key: int = Field(sa_column=Column(ForeignKey("dispute.key"), nullable=False, index=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    who: str = Field(sa_column=Column(TextColumn, nullable=False))
    before: str = Field(sa_column=Column(TextColumn, nullable=False))
    after: str = Field(sa_column=Column(TextColumn, nullable=False))
    note: str = Field(sa_column=Column(TextColumn, nullable=False))


class ClaimTable(TableBase, table=True):
    """A claim of control of a server, proven by `challenge` at `place` with the method `way`."""

    __tablename__ = "claim"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False, index=True))
    way: str = Field(sa_column=Column(TextColumn, nullable=False))
    place: str = Field(sa_column=Column(TextColumn, nullable=False))
    challenge: str = Field(sa_column=Column(TextColumn, nullable=False))
    client: str = Field(sa_column=Column(TextColumn, nullable=False, index=True))
    asked_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    state: str = Field(sa_column=Column(TextColumn, nullable=False))
    due_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False, index=True))
    tries: int = Field(sa_column=Column(Integer, nullable=False))
    seen_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    note: str = Field(default="", sa_column=Column(TextColumn, nullable=False))


class ApiTokenTable(TableBase, table=True):
    """One token: a salted digest of its secret, and its scopes. With a claim it is valid while the claim is proven."""

    __tablename__ = "api_token"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    name: str = Field(sa_column=Column(TextColumn, nullable=False))
    salt: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    scopes: str = Field(sa_column=Column(TextColumn, nullable=False))
    claim_key: int | None = Field(default=None, sa_column=Column(ForeignKey("claim.key"), index=True))
    made_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    expires_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    used_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))


class AuditTable(TableBase, table=True):
    """Decisions of operators: never altered. `before` and `after` are ASCII JSON."""

    __tablename__ = "audit"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    who: str = Field(sa_column=Column(TextColumn, nullable=False))
    token: str | None = Field(sa_column=Column(TextColumn))
    what: str = Field(sa_column=Column(TextColumn, nullable=False))
    subject: str = Field(sa_column=Column(TextColumn, nullable=False, index=True))
    before: str = Field(sa_column=Column(TextColumn, nullable=False))
    after: str = Field(sa_column=Column(TextColumn, nullable=False))
    note: str = Field(sa_column=Column(TextColumn, nullable=False))


class WebhookTable(TableBase, table=True):
    """A URL to notify when a server's score changes. `run` is the newest published run processed for it."""

    __tablename__ = "webhook"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    server_key: int = Field(sa_column=Column(ForeignKey("server.key"), nullable=False, index=True))
    url: str = Field(sa_column=Column(TextColumn, nullable=False))
    token: str | None = Field(sa_column=Column(TextColumn))
    made_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    run: str | None = Field(default=None, sa_column=Column(TextColumn))
    failures: int = Field(default=0, sa_column=Column(SmallInteger, nullable=False))
    ended_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    why: str | None = Field(default=None, sa_column=Column(TextColumn))


class DeliveryTable(TableBase, table=True):
    """One message for a webhook and its state; also the log of deliveries."""

    __tablename__ = "delivery"

    key: int | None = Field(default=None, sa_column=Column(Integer, primary_key=True))
    id: str = Field(sa_column=Column(TextColumn, nullable=False, unique=True))
    webhook_key: int = Field(sa_column=Column(ForeignKey("webhook.key"), nullable=False))
    run: str = Field(sa_column=Column(TextColumn, nullable=False))
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    made_at: datetime = Field(sa_column=Column(TimestampColumn, nullable=False))
    state: str = Field(sa_column=Column(TextColumn, nullable=False))
    attempts: int = Field(default=0, sa_column=Column(SmallInteger, nullable=False))
    due_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn, index=True))
    tried_at: datetime | None = Field(default=None, sa_column=Column(TimestampColumn))
    said: str = Field(default="", sa_column=Column(TextColumn, nullable=False))

    __table_args__ = (UniqueConstraint("webhook_key", "run"),)


DISPUTE = get_table(DisputeTable)
DISPUTE_ACT = get_table(DisputeActTable)
CLAIM = get_table(ClaimTable)
API_TOKEN = get_table(ApiTokenTable)
AUDIT = get_table(AuditTable)
WEBHOOK = get_table(WebhookTable)
DELIVERY = get_table(DeliveryTable)
