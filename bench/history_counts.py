"""Counts the work of one run independently of the machine's load: function calls, and steps or rows in the database."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, LiteralString

import psycopg
from sqlalchemy import Engine, event

_EVERY: Final = 20
_FLUSHED: Final = 5.0

Work = Callable[[], int]
"""The work of a database so far, in its own unit."""


@contextmanager
def open_work_counter(url: str) -> Iterator[Work]:
    """The work of a database: steps of SQLite, rows and pages of PostgreSQL; enter it before the database is opened."""
    with _sqlite_steps() if url.startswith("sqlite") else _postgresql_rows(url) as work:
        yield work


def count(night: Callable[[], object], work: Work, is_sqlite: bool) -> dict[str, int]:
    """Function calls of one night, built-in functions included, and the work of the database."""
    before = work()
    profile = cProfile.Profile()
    profile.runcall(night)
    done = work() - before
    calls = int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]
    return {"calls": calls - (done // _EVERY if is_sqlite else 0), "database": done}


@contextmanager
def _sqlite_steps() -> Iterator[Work]:
    """Steps of SQLite's virtual machine, rounded down for each statement."""
    steps = 0

    def more() -> int:
        nonlocal steps
        steps += _EVERY
        return 0

    def watch(connection: Any, *_: Any) -> None:
        connection.set_progress_handler(more, _EVERY)

    event.listen(Engine, "connect", watch)
    try:
        yield lambda: steps
    finally:
        event.remove(Engine, "connect", watch)


@contextmanager
def _postgresql_rows(url: str) -> Iterator[Work]:
    """Rows that PostgreSQL returned or fetched, and pages that it read, in sessions that have ended."""
    query = (
        "SELECT tup_returned + tup_fetched + blks_hit + blks_read FROM pg_stat_database"
        " WHERE datname = current_database()"
    )
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:

        def number(statement: LiteralString) -> int:
            row = connection.execute(statement).fetchone()
            assert row is not None
            return int(row[0])

        def work() -> int:
            deadline = time.monotonic() + _FLUSHED
            while number(others) and time.monotonic() < deadline:
                time.sleep(0.02)
            return number(query)

        yield work
