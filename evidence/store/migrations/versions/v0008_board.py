"""The board, from which pages and lists are read: expand only. It is filled by the next publication."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True).with_variant(sa.BigInteger(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "board",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("ready", sa.Boolean(), nullable=False),
        sa.Column("servers", sa.Integer(), nullable=False),
        sa.Column("rubrics", WORDS, nullable=False),
        sa.Column("kinds", WORDS, nullable=False),
        sa.Column("front", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_board_run_key"),
        sa.PrimaryKeyConstraint("key", name="pk_board"),
    )
    op.create_index("ix_board_run_key", "board", ["run_key"])
    op.create_table(
        "board_server",
        sa.Column("edition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("server_key", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("seen", MOMENT, nullable=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_board_server_server_key"),
        sa.PrimaryKeyConstraint("edition", "place", name="pk_board_server"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_board_server_server_key_edition", "board_server", ["server_key", "edition"])
    op.create_table(
        "board_order",
        sa.Column("edition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sort", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("grade", WORDS, nullable=True),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("edition", "sort", "place", name="pk_board_order"),
        sqlite_with_rowid=False,
    )
    walked = ["edition", "sort", "rank", "place", "kind", "grade", "score"]
    op.create_index("ix_board_order_walk", "board_order", walked)
    op.create_table(
        "board_word",
        sa.Column("edition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("word", WORDS, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("edition", "word", "place", name="pk_board_word"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_board_word_edition_place_word", "board_word", ["edition", "place", "word"])
    op.create_table(
        "board_hidden",
        sa.Column("server_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_board_hidden_server_key"),
        sa.PrimaryKeyConstraint("server_key", name="pk_board_hidden"),
    )
    op.create_table(
        "board_withheld",
        sa.Column("run_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("server_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name="fk_board_withheld_run_key"),
        sa.ForeignKeyConstraint(["server_key"], ["server.key"], name="fk_board_withheld_server_key"),
        sa.PrimaryKeyConstraint("run_key", "server_key", name="pk_board_withheld"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("board_withheld", "board_hidden", "board_word", "board_order", "board_server", "board"):
        op.drop_table(table)
