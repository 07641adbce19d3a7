"""The blocks that PostgreSQL reads do not grow with the number of runs, nor with the servers of a new run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
from msgspec.structs import replace
from sqlalchemy import Engine, event

from evidence.model import ServerId
from evidence.store import Stage, Store, open_store
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


QUESTIONS = (changes, earlier, other_receipts)
"""The last one writes."""


def blocks_read(postgres: PostgresServer, number: int) -> dict[str, int]:
    """Blocks of 8 KiB, in memory or not, that each question about the night after so many nights reads."""
    url = postgres.create_database()
    store = open_store(url)
    store.migrate()
    ids = nights(store, number)
    read: dict[str, int] = {}
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        for question in QUESTIONS:
            ask = partial(question, store, f"20270101-{number:03}", ids)
            read[question.__name__] = count_blocks(connection, ask)
    store.close()
    postgres.drop_database(url)
    return read


def count_blocks(connection: psycopg.Connection[Any], ask: Callable[[], object]) -> int:
    """Blocks of 8 KiB that the queries of `ask` read."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            asked.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        ask()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return sum(_blocks(connection, *one) for one in asked)


def _blocks(connection: psycopg.Connection[Any], statement: str, parameters: Any) -> int:
    row = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def test_a_night_after_many_reads_no_more_than_one_after_few(postgres: PostgresServer) -> None:
    few, many = (blocks_read(postgres, number) for number in (FEW, MANY))
    assert {name: (few[name], many[name]) for name in few if many[name] >= 1.5 * few[name]} == {}


def test_a_few_servers_of_a_new_run_cost_the_same_however_many_it_has(postgres: PostgresServer) -> None:
    """Without statistics of a run, a planner that is given a choice reads all of its items."""
    url = postgres.create_database()
    store = open_store(url)
    store.migrate()
    ids = [server.id for server in planned(store, 2_000)]
    questions: dict[str, Callable[[str], object]] = {
        "tokens": lambda run: store.read_tokens(run, Stage.SCORE, ids[:9]),
        "pending": lambda run: store.list_pending_servers(run, Stage.SCORE, ids[:9]),
    }
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("ALTER TABLE run_item SET (autovacuum_enabled = false)")
        for name, number in (("small", 9), ("large", 2_000)):
            store.add_run(run(name))
            store.plan_run(name, ids[:number], LATER)
        for question, ask in questions.items():
            assert len(ask("large")) == 9  # type: ignore[arg-type]
            small, large = (count_blocks(connection, partial(ask, name)) for name in ("small", "large"))
            assert large <= 2 * small, question
    store.close()
    postgres.drop_database(url)
