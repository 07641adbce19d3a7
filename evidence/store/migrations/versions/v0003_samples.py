"""Samples taken between runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "sample",
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("failure", WORDS, nullable=False),
        sa.Column("cold_ms", sa.Double(), nullable=True),
        sa.Column("warm_ms", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_sample_server_key"),
        sa.PrimaryKeyConstraint("server_key", "at", name="pk_sample"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("sample")
