"""Opinions are kept by the digest of the question, and the first one stays."""

from __future__ import annotations

from datetime import UTC, datetime

from evidence.store import Store
from evidence.store.sql.bulk_insert import BATCH_SIZE

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_the_first_opinion_about_a_question_stays(store: Store) -> None:
    store.put_opinions({"aa" * 32: b"first", "bb" * 32: b"\x00\xff"}, at=NOW)
    store.put_opinions({"aa" * 32: b"second"}, at=NOW)
    asked = ["aa" * 32, "bb" * 32, "cc" * 32]
    assert store.read_opinions(asked) == {"aa" * 32: b"first", "bb" * 32: b"\x00\xff"}
    assert store.read_opinions([]) == {}


def test_more_questions_than_one_statement_holds_are_read(store: Store) -> None:
    bodies = {f"{number:064x}": str(number).encode() for number in range(BATCH_SIZE + 2)}
    store.put_opinions(bodies, at=NOW)
    assert store.read_opinions(list(bodies)) == bodies
