"""The board's words in a full-text index of the database instead of a table of words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE board_text USING fts5 (words, tokenize = 'unicode61 remove_diacritics 0')")
        op.execute(
            "INSERT INTO board_text (rowid, words)"
            " SELECT edition * 4294967296 + place, group_concat(word, ' ') FROM board_word GROUP BY edition, place"
        )
    else:
        op.execute(
            "CREATE TABLE board_text (edition integer NOT NULL, place integer NOT NULL, words tsvector NOT NULL,"
            " CONSTRAINT pk_board_text PRIMARY KEY (edition, place))"
        )
        op.execute(
            "INSERT INTO board_text (edition, place, words)"
            " SELECT edition, place, array_to_tsvector(array_agg(word)) FROM board_word GROUP BY edition, place"
        )
        op.execute("CREATE INDEX ix_board_text_words ON board_text USING gin (words)")
    op.drop_table("board_word")


def downgrade() -> None:
    op.create_table(
        "board_word",
        sa.Column("edition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("word", WORDS, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("edition", "word", "place", name="pk_board_word"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_board_word_edition_place_word", "board_word", ["edition", "place", "word"])
    op.drop_table("board_text")
