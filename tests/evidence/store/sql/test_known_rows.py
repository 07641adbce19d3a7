"""A connection asks once for rows that never change, and keeps none that may be rolled back or get another key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from evidence.model import Run, Trigger
from evidence.store import UnknownRun, open_store
from evidence.store.database import Database
from evidence.store.records.shapes import ShapePart, put_shapes, read_shapes
from evidence.store.runs.run_states import add_run
from evidence.store.sql import known_rows
from evidence.store.sql.row_keys import find_dated_run, find_run_key
from tests.evidence.store.build import AS_OF
from tests.servers.postgres import PostgresServer

RUN = Run(id="r1", trigger=Trigger.LOCAL, as_of=AS_OF, pins={})


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    yield from _migrated(postgres.create_database())


def _migrated(url: str) -> Iterator[Database]:
    store, made = open_store(url), Database(url)
    store.migrate()
    yield made
    made.close()
    store.close()


@contextmanager
def counted() -> Iterator[list[str]]:
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_a_run_is_looked_up_once_by_a_connection(database: Database) -> None:
    with database.writing() as connection:
        add_run(connection, RUN)
    with database.reading() as connection, counted() as asked:
        assert [find_dated_run(connection, RUN.id) for _ in range(3)] == [(1, AS_OF)] * 3
    assert len(asked) == 1
    with database.writing() as connection, counted() as asked:
        assert find_run_key(connection, RUN.id) == 1
    assert asked == []


def test_a_run_that_was_rolled_back_is_forgotten(database: Database) -> None:
    with pytest.raises(RuntimeError), database.writing() as connection:
        add_run(connection, RUN)
        assert find_run_key(connection, RUN.id)
        raise RuntimeError
    with database.reading() as connection, pytest.raises(UnknownRun):
        find_run_key(connection, RUN.id)


def test_sqlite_gives_a_key_again_so_nothing_is_kept(tmp_path: Path) -> None:
    for database in _migrated(f"sqlite:///{tmp_path}/hallmark.db"):
        with database.writing() as connection:
            add_run(connection, RUN)
        with database.reading() as connection:
            find_run_key(connection, RUN.id)
            assert known_rows.recall_rows(connection, "run") == {}


def test_a_connection_keeps_a_bounded_number_of_rows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_rows, "MOST", 3)
    with database.reading() as connection:
        for number in range(10):
            known_rows.keep_rows(connection, "run", {number: number})
            assert len(known_rows.recall_rows(connection, "run")) <= 3
        assert known_rows.recall_rows(connection, "run")[9] == 9
        known_rows.keep_rows(connection, "run", dict.fromkeys(range(10)))
        assert len(known_rows.recall_rows(connection, "run")) == 3


def test_shapes_that_make_room_for_others_are_still_read(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_rows, "MOST", 3)
    shapes = [(ShapePart("listing", number, "probe", 1, None),) for number in range(5)]
    with database.writing() as connection:
        stored = {key: shape for shape, key in put_shapes(connection, shapes).items()}
    with database.reading() as connection:
        for keys in (list(stored)[:2], list(stored)[:4], list(stored)):
            assert read_shapes(connection, keys) == {key: stored[key] for key in keys}
