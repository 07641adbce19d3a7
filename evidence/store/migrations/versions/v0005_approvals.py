"""Listings that an operator has approved after something alarming changed in them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "approval",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("listing", WORDS, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("who", WORDS, nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_approval_server_key"),
        sa.PrimaryKeyConstraint("key", name="pk_approval"),
        sa.UniqueConstraint("server_key", "listing", name="uq_approval_server_key_listing"),
    )


def downgrade() -> None:
    op.drop_table("approval")
