"""Which run's walk saw a registry entry last, so that a complete walk can retire the others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("server_ref", sa.Column("run_key", sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("server_ref") as table:
        table.drop_column("run_key")
