"""An index of what is handed out, so that looking for what was lost does not read all that waits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

HANDED_OUT = sa.text("done_at IS NULL AND leases > 0")


def upgrade() -> None:
    columns = ["run_key", "leased_until"]
    op.create_index("ix_run_item_handed_out", "run_item", columns, sqlite_where=HANDED_OUT, postgresql_where=HANDED_OUT)


def downgrade() -> None:
    op.drop_index("ix_run_item_handed_out", "run_item")
