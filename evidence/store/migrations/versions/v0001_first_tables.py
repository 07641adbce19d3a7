"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "evidence_blob",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("canonical", sa.LargeBinary(), nullable=True),
        sa.Column("codec", sa.SmallInteger(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_evidence_blob"),
    )
    op.create_index("uq_evidence_blob_digest", "evidence_blob", ["digest"], unique=True)
    op.create_table(
        "run",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", WORDS, nullable=False),
        sa.Column("trigger", WORDS, nullable=False),
        sa.Column("as_of", MOMENT, nullable=False),
        sa.Column("pins", WORDS, nullable=False),
        sa.Column("options", WORDS, nullable=False),
        sa.Column("state", WORDS, nullable=False),
        sa.Column("planned_at", MOMENT, nullable=True),
        sa.Column("published_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_run"),
        sa.UniqueConstraint("id", name="uq_run_id"),
    )
    op.create_table(
        "server",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", WORDS, nullable=False),
        sa.Column("ref", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("targets", WORDS, nullable=False),
        sa.Column("repository", WORDS, nullable=True),
        sa.Column("seen_in", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_server"),
        sa.UniqueConstraint("id", name="uq_server_id"),
    )
    op.create_index("ix_server_name", "server", ["name"], unique=False, postgresql_using="hash")
    op.create_table(
        "watermark",
        sa.Column("registry", WORDS, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("registry", name="pk_watermark"),
    )
    op.create_table(
        "evidence_record",
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("schema", sa.SmallInteger(), nullable=False),
        sa.Column("collector", WORDS, nullable=False),
        sa.Column("collector_version", sa.SmallInteger(), nullable=False),
        sa.Column("observed_at", MOMENT, nullable=False),
        sa.Column("blob_key", sa.Integer(), nullable=True),
        sa.Column("reason", WORDS, nullable=True),
        sa.Column("detail", WORDS, nullable=True),
        sa.Column("observation", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("(blob_key IS NULL) <> (reason IS NULL)", name="ck_evidence_record_observed_or_absent"),
        sa.ForeignKeyConstraint(["blob_key"], ["evidence_blob.key"], name="fk_evidence_record_blob_key"),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_evidence_record_run_key"),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_evidence_record_server_key"),
        sa.PrimaryKeyConstraint("run_key", "server_key", "kind", name="pk_evidence_record"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_item",
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("stage", WORDS, nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), nullable=False),
        sa.Column("last_error", WORDS, nullable=True),
        sa.Column("done_at", MOMENT, nullable=True),
        sa.Column("leased_by", WORDS, nullable=True),
        sa.Column("leased_until", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_run_item_run_key"),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_run_item_server_key"),
        sa.PrimaryKeyConstraint("run_key", "stage", "server_key", name="pk_run_item"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_run_item_open",
        "run_item",
        ["run_key", "stage", "server_key"],
        unique=False,
        sqlite_where=sa.text("done_at IS NULL"),
        postgresql_where=sa.text("done_at IS NULL"),
    )
    op.create_table(
        "scorecard",
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("rubric", WORDS, nullable=False),
        sa.Column("version", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("score", WORDS, nullable=True),
        sa.Column("grade", WORDS, nullable=True),
        sa.Column("codec", sa.SmallInteger(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_scorecard_run_key"),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_scorecard_server_key"),
        sa.PrimaryKeyConstraint("run_key", "server_key", "rubric", "version", name="pk_scorecard"),
    )
    op.create_table(
        "server_ref",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("registry", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("name_digest", sa.LargeBinary(), nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("version", WORDS, nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("entry_key", sa.Integer(), nullable=False),
        sa.Column("targets", WORDS, nullable=False),
        sa.Column("repository", WORDS, nullable=True),
        sa.Column("updated_at", MOMENT, nullable=True),
        sa.Column("error", WORDS, nullable=True),
        sa.ForeignKeyConstraint(["entry_key"], ["evidence_blob.key"], name="fk_server_ref_entry_key"),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_server_ref_server_key"),
        sa.PrimaryKeyConstraint("key", name="pk_server_ref"),
    )
    op.create_index("ix_server_ref_server_key", "server_ref", ["server_key"], unique=False)
    op.create_index("uq_server_ref_registry_name_digest", "server_ref", ["registry", "name_digest"], unique=True)
    op.create_table(
        "snapshot",
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("manifest", sa.LargeBinary(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_snapshot_run_key"),
        sa.PrimaryKeyConstraint("run_key", name="pk_snapshot"),
    )
    op.create_table(
        "walk",
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("registry", WORDS, nullable=False),
        sa.Column("cursor", WORDS, nullable=True),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("invalid", sa.Integer(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("error", WORDS, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_walk_run_key"),
        sa.PrimaryKeyConstraint("run_key", "registry", name="pk_walk"),
    )


def downgrade() -> None:
    for table in (
        "walk",
        "snapshot",
        "server_ref",
        "scorecard",
        "run_item",
        "evidence_record",
        "watermark",
        "server",
        "run",
        "evidence_blob",
    ):
        op.drop_table(table)
