"""What a fleet needs to know: how often an item was leased, what an operator did to a run, re-tests, opt-outs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.add_column("run", sa.Column("note", WORDS, nullable=True))
    op.add_column("run_item", sa.Column("leases", sa.SmallInteger(), nullable=False, server_default="0"))
    op.add_column("run_item", sa.Column("not_before", MOMENT, nullable=True))
    op.add_column("run_item", sa.Column("carried", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "run_event",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("who", WORDS, nullable=False),
        sa.Column("what", WORDS, nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_run_event_run_key"),
        sa.PrimaryKeyConstraint("key", name="pk_run_event"),
    )
    op.create_index("ix_run_event_run_key", "run_event", ["run_key"])
    op.create_table(
        "retest_request",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", WORDS, nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("client", WORDS, nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("state", WORDS, nullable=False),
        sa.Column("reason", WORDS, nullable=True),
        sa.Column("run_key", sa.Integer(), nullable=True),
        sa.Column("before_key", sa.Integer(), nullable=True),
        sa.Column("admitted_at", MOMENT, nullable=True),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_retest_request_server_key"),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_retest_request_run_key"),
        sa.ForeignKeyConstraint(["before_key"], ["run.key"], name="fk_retest_request_before_key"),
        sa.PrimaryKeyConstraint("key", name="pk_retest_request"),
        sa.UniqueConstraint("id", name="uq_retest_request_id"),
    )
    op.create_index("ix_retest_request_server_key", "retest_request", ["server_key"])
    op.create_index("ix_retest_request_state", "retest_request", ["state"])
    op.create_table(
        "opt_out",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("scope", WORDS, nullable=False),
        sa.Column("value", WORDS, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("who", WORDS, nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_opt_out"),
    )


def downgrade() -> None:
    for table in ("opt_out", "retest_request", "run_event"):
        op.drop_table(table)
    with op.batch_alter_table("run_item") as items:
        for column in ("carried", "not_before", "leases"):
            items.drop_column(column)
    with op.batch_alter_table("run") as runs:
        runs.drop_column("note")
