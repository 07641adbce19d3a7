"""The rows that PostgreSQL reads to compare a run with the one before do not grow with the number of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event

from evidence.model import ServerId
from evidence.store import Store, open_store
from tests.evidence.store.build import LATER, body, card, planned, record, run
from tests.servers.postgres import PostgresServer

FEW, MANY = 4, 40
SERVERS = 30


def nights(store: Store, number: int) -> list[ServerId]:
    """So many nights over the same servers, and one that has only its records."""
    ids = [server.id for server in planned(store, SERVERS)]
    for night in range(number + 1):
        name, at = f"20270101-{night:03}", LATER + timedelta(days=night)
        store.add_run(replace(run(name), as_of=at))
        store.plan_run(name, ids, at)
        store.put_records(name, [record(one, body(1)) for one in ids], done=ids, at=at)
        if night < number:
            store.put_scorecards(name, [card(one) for one in ids], done=ids, at=at)
    return ids


def changes(store: Store, tonight: str, ids: Sequence[ServerId]) -> None:
    assert len(store.read_changes(tonight, ids)) == SERVERS


def earlier(store: Store, tonight: str, ids: Sequence[ServerId]) -> None:
    assert len(store.read_earlier(tonight, ids)) == SERVERS


def other_receipts(store: Store, tonight: str, ids: Sequence[ServerId]) -> None:
    cards = [replace(card(one), body=card(one).body.replace(b"{", b'{"new":1,', 1)) for one in ids]
    store.put_scorecards(tonight, cards, done=ids, at=LATER)


def blocks_read(postgres: PostgresServer, number: int, ask: Callable[[Store, str, Sequence[ServerId]], None]) -> int:
    """Blocks of 8 KiB that a question about the night after so many nights reads, in memory or not."""
    url = postgres.create_database()
    store = open_store(url)
    store.migrate()
    ids = nights(store, number)
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            asked.append((statement, parameters))

    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        event.listen(Engine, "before_cursor_execute", note)
        try:
            ask(store, f"20270101-{number:03}", ids)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        read = 0
        for statement, parameters in asked:
            row = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters).fetchone()
            assert row is not None
            plan = row[0][0]["Plan"]
            read += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    store.close()
    postgres.drop_database(url)
    return read


@pytest.mark.parametrize("ask", [changes, earlier, other_receipts])
def test_a_night_after_many_reads_no_more_than_one_after_few(
    postgres: PostgresServer, ask: Callable[[Store, str, Sequence[ServerId]], None]
) -> None:
    few, many = (blocks_read(postgres, number, ask) for number in (FEW, MANY))
    assert many < 1.5 * few, (few, many)
