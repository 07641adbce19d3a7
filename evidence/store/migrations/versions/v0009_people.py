"""What people do: disputes, tokens, proofs of control, webhooks with their deliveries, and the audit trail."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")

TABLES = ("delivery", "webhook", "audit", "api_token", "claim", "dispute_act", "dispute")


def upgrade() -> None:
    _make(
        "dispute",
        _text("id"),
        _key("server_key"),
        sa.Column("line", sa.LargeBinary(), nullable=False),
        *(_text("run"), _text("rubric"), sa.Column("version", sa.SmallInteger(), nullable=False), _text("cites")),
        *(_text("rule", nullable=True), _text("at"), _text("why"), _text("reason"), _text("contact", nullable=True)),
        *(_text("client"), sa.Column("by_maintainer", sa.Boolean(), nullable=False), _moment("filed_at")),
        *(_text("state"), sa.Column("is_shown", sa.Boolean(), nullable=False), _text("answer", nullable=True)),
        _moment("decided_at", nullable=True),
        foreign={"server_key": "server"},
        unique=("id",),
        indexes=("server_key", "line", "client", "state"),
    )
    _make(
        "dispute_act",
        _key("dispute_key"),
        *(_moment("at"), _text("who"), _text("before"), _text("after"), _text("note")),
        foreign={"dispute_key": "dispute"},
        indexes=("dispute_key",),
    )
    _make(
        "claim",
        _text("id"),
        _key("server_key"),
        *(_text("way"), _text("place"), _text("challenge"), _text("client"), _moment("asked_at"), _text("state")),
        *(_moment("due_at"), sa.Column("tries", sa.Integer(), nullable=False), _moment("seen_at", nullable=True)),
        _text("note"),
        foreign={"server_key": "server"},
        unique=("id",),
        indexes=("server_key", "client", "due_at"),
    )
    _make(
        "api_token",
        *(_text("id"), _text("name")),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        _text("scopes"),
        sa.Column("claim_key", sa.Integer(), nullable=True),
        _moment("made_at"),
        *(_moment(name, nullable=True) for name in ("expires_at", "used_at", "revoked_at")),
        foreign={"claim_key": "claim"},
        unique=("id",),
        indexes=("claim_key",),
    )
    _make(
        "audit",
        *(_moment("at"), _text("who"), _text("token", nullable=True), _text("what"), _text("subject")),
        *(_text("before"), _text("after"), _text("note")),
        indexes=("subject",),
    )
    _make(
        "webhook",
        _text("id"),
        _key("server_key"),
        *(_text("url"), _text("token", nullable=True), _moment("made_at"), _text("run", nullable=True)),
        sa.Column("failures", sa.SmallInteger(), nullable=False),
        *(_moment("ended_at", nullable=True), _text("why", nullable=True)),
        foreign={"server_key": "server"},
        unique=("id",),
        indexes=("server_key",),
    )
    _make(
        "delivery",
        _text("id"),
        _key("webhook_key"),
        *(_text("run"), sa.Column("body", sa.LargeBinary(), nullable=False), _moment("made_at"), _text("state")),
        sa.Column("attempts", sa.SmallInteger(), nullable=False),
        *(_moment("due_at", nullable=True), _moment("tried_at", nullable=True), _text("said")),
        foreign={"webhook_key": "webhook"},
        unique=("id", ("webhook_key", "run")),
        indexes=("due_at",),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)


def _make(
    table: str,
    *columns: sa.Column[Any],
    foreign: dict[str, str] | None = None,
    unique: tuple[str | tuple[str, ...], ...] = (),
    indexes: tuple[str, ...] = (),
) -> None:
    """A table with an integer key, references to the keys of other tables, and indexes of one column each."""
    groups = [(one,) if isinstance(one, str) else one for one in unique]
    op.create_table(
        table,
        sa.Column("key", sa.Integer(), nullable=False),
        *columns,
        *(
            sa.ForeignKeyConstraint([name], [f"{other}.key"], name=f"fk_{table}_{name}")
            for name, other in (foreign or {}).items()
        ),
        sa.PrimaryKeyConstraint("key", name=f"pk_{table}"),
        *(sa.UniqueConstraint(*names, name=f"uq_{table}_{'_'.join(names)}") for names in groups),
    )
    for name in indexes:
        op.create_index(f"ix_{table}_{name}", table, [name])


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, WORDS, nullable=nullable)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, MOMENT, nullable=nullable)


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False)
