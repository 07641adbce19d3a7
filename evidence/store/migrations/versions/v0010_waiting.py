"""An index in the order in which work is handed out, and the full probes that follow on re-tests.

The index over open items that was there before is not needed beside it; without it older code finishes its runs by way
of the primary key.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

OPEN = sa.text("done_at IS NULL")


def upgrade() -> None:
    waiting = ["run_key", "stage", "not_before", "server_key"]
    op.create_index("ix_run_item_waiting", "run_item", waiting, sqlite_where=OPEN, postgresql_where=OPEN)
    op.drop_index("ix_run_item_open", "run_item")
    op.create_table(
        "full_probe",
        sa.Column("retest_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["retest_key"], ["retest_request.key"], name="fk_full_probe_retest_key"),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_full_probe_run_key"),
        sa.PrimaryKeyConstraint("retest_key", name="pk_full_probe"),
    )
    op.create_index("ix_full_probe_run_key", "full_probe", ["run_key"])
    op.create_index("ix_retest_request_finished_at", "retest_request", ["finished_at"])


def downgrade() -> None:
    op.drop_index("ix_retest_request_finished_at", "retest_request")
    op.drop_table("full_probe")
    open_items = ["run_key", "stage", "server_key"]
    op.create_index("ix_run_item_open", "run_item", open_items, sqlite_where=OPEN, postgresql_where=OPEN)
    op.drop_index("ix_run_item_waiting", "run_item")
