"""Tables in which an unchanged night costs a row a server instead of one a record and receipt: expand only.

What older tables hold is copied by evidence/store/legacy.py, in short transactions, after this one. The older tables
stay until the migration after the next release, so that processes of the older version finish what they work on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.add_column("run", sa.Column("layout", sa.SmallInteger(), nullable=False, server_default="0"))
    op.create_table(
        "evidence_shape",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_evidence_shape"),
    )
    op.create_index("uq_evidence_shape_digest", "evidence_shape", ["digest"], unique=True)
    op.create_table(
        "evidence_part",
        sa.Column("shape_key", sa.Integer(), nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("schema", sa.SmallInteger(), nullable=False),
        sa.Column("collector", WORDS, nullable=False),
        sa.Column("collector_version", sa.SmallInteger(), nullable=False),
        sa.Column("reason", WORDS, nullable=True),
        sa.Column("detail", WORDS, nullable=True),
        sa.ForeignKeyConstraint(["shape_key"], ["evidence_shape.key"], name="fk_evidence_part_shape_key"),
        sa.PrimaryKeyConstraint("shape_key", "kind", name="pk_evidence_part"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "evidence_attempts",
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_evidence_attempts_server_key"),
        sa.PrimaryKeyConstraint("server_key", "page", name="pk_evidence_attempts"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "receipt",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("rubric", WORDS, nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("score", WORDS, nullable=True),
        sa.Column("grade", WORDS, nullable=True),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("codec", sa.SmallInteger(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("base_key", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["base_key"], ["receipt.key"], name="fk_receipt_base_key"),
        sa.PrimaryKeyConstraint("key", name="pk_receipt"),
    )
    op.create_index("uq_receipt_digest", "receipt", ["digest"], unique=True)
    for table, columns in (("evidence_visit", ("blobs", "notes")), ("scoring", ("blobs", "receipts"))):
        op.create_table(
            table,
            sa.Column("run_key", sa.Integer(), nullable=False),
            sa.Column("server_key", sa.Integer(), nullable=False),
            sa.Column("shape_key", sa.Integer(), nullable=False),
            *(sa.Column(column, sa.LargeBinary(), nullable=False) for column in columns),
            sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=f"fk_{table}_run_key"),
            sa.ForeignKeyConstraint(["server_key"], ["server.key"], name=f"fk_{table}_server_key"),
            sa.ForeignKeyConstraint(["shape_key"], ["evidence_shape.key"], name=f"fk_{table}_shape_key"),
            sa.PrimaryKeyConstraint("run_key", "server_key", name=f"pk_{table}"),
            sqlite_with_rowid=False,
        )
    op.create_index("ix_server_ref_entry_key", "server_ref", ["entry_key"])
    op.create_table(
        "compaction",
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_compaction_run_key"),
        sa.PrimaryKeyConstraint("run_key", name="pk_compaction"),
    )


def downgrade() -> None:
    tables = (
        "compaction",
        "scoring",
        "evidence_visit",
        "receipt",
        "evidence_attempts",
        "evidence_part",
        "evidence_shape",
    )
    for table in tables:
        op.drop_table(table)
    op.drop_index("ix_server_ref_entry_key", "server_ref")
    with op.batch_alter_table("run") as runs:
        runs.drop_column("layout")
