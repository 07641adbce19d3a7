"""Findings of our own scans with the state of their disclosure, and the trail of every change of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "finding",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", WORDS, nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("rule", WORDS, nullable=False),
        sa.Column("at", WORDS, nullable=False),
        sa.Column("message", WORDS, nullable=False),
        sa.Column("severity", WORDS, nullable=False),
        sa.Column("content", WORDS, nullable=False),
        sa.Column("first_seen", MOMENT, nullable=False),
        sa.Column("last_seen", MOMENT, nullable=False),
        sa.Column("state", WORDS, nullable=False),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("told_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_finding_server_key"),
        sa.PrimaryKeyConstraint("key", name="pk_finding"),
        sa.UniqueConstraint("id", name="uq_finding_id"),
    )
    op.create_index("ix_finding_server_key", "finding", ["server_key"])
    op.create_index("ix_finding_state", "finding", ["state"])
    op.create_table(
        "disclosure",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("finding_key", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("who", WORDS, nullable=False),
        sa.Column("before", WORDS, nullable=False),
        sa.Column("after", WORDS, nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.Column("recipient", WORDS, nullable=True),
        sa.ForeignKeyConstraint(["finding_key"], ["finding.key"], name="fk_disclosure_finding_key"),
        sa.PrimaryKeyConstraint("key", name="pk_disclosure"),
    )
    op.create_index("ix_disclosure_finding_key", "disclosure", ["finding_key"])


def downgrade() -> None:
    op.drop_table("disclosure")
    op.drop_table("finding")
