"""Connections and transactions on SQLite or PostgreSQL, and driver failures as errors of the store."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Engine, PoolProxiedConnection, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIModule
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from evidence.store.errors import NotMigrated, StoreError, StoreUnavailable

BUSY_MILLISECONDS: Final = 60_000
_RETRY_SECONDS: Final = 0.02

# Larger than SQLite's default, so that compressed bodies of 2 to 3 KB do not leave half of every page empty.
_PAGE_BYTES: Final = 16_384
_CACHE_KIB: Final = 65_536

# "hallmark" as eight ASCII bytes, so that it differs from the locks of other programs in a shared database.
_MIGRATION_LOCK: Final = int.from_bytes(b"hallmark", "big")
_SWEEPING_LOCK: Final = _MIGRATION_LOCK + 1

_DRIVER: Final = "psycopg"
_EXPECTED: Final = "expected a database URL like sqlite:///PATH or postgresql+psycopg://USER@HOST/NAME"

_UNDEFINED: Final = {"42P01", "42703"}
"""PostgreSQL's `undefined_table` and `undefined_column`."""

_DAMAGED: Final = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}

_SQLITE_WRITES: Final = {"hallmark_writes": True}
_POSTGRESQL_TRANSACTION: Final = {"isolation_level": "READ COMMITTED"}
_POSTGRESQL_READS: Final = "AUTOCOMMIT"
"""Without a transaction around reads, which would take two more round trips."""

_TRUSTED_SECONDS: Final = 0.02
"""A connection that was used within this time is used again without a test. The fastest restart of a killed PostgreSQL
that was measured took 38 ms.
"""

_RETURNED: Final = "returned"


class Database:
    """One database behind one URL. Creating it connects to nothing."""

    def __init__(self, url: str) -> None:
        try:
            self.url = make_url(url)
            self._engine = _create_engine(url)
        except (ArgumentError, NoSuchModuleError, ImportError) as error:
            if isinstance(error, ModuleNotFoundError) and error.name == _DRIVER:
                raise  # the URL is right, and an extra of Hallmark brings the driver
            raise StoreError(f"{_EXPECTED}: {error}") from error
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        # SQLite has one writer; threads of this process queue here instead of polling for its lock.
        self._writer: AbstractContextManager[Any] = threading.Lock() if self.is_sqlite else nullcontext()
        self._thread_local = threading.local()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self, *, alone: bool = False) -> Iterator[Connection]:
        """A connection that only reads. On SQLite it sees one snapshot.

        On PostgreSQL each statement sees what was committed before, with or without a transaction, so there is none.
        Within `shared_reading` it is the block's connection, unless `alone`: then it sees what was written since.
        """
        shared = None if alone else getattr(self._thread_local, "connection", None)
        with self._named_failures():
            if shared is not None:
                yield shared
                return
            with self._engine.connect() as connection, connection.begin():
                yield connection

    @contextmanager
    def streaming(self) -> Iterator[Connection]:
        """A transaction that only reads, for results that are fetched in parts by `yield_per`."""
        with self._named_failures(), self._engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(**_POSTGRESQL_TRANSACTION)
            with connection.begin():
                yield connection

    @contextmanager
    def shared_reading(self) -> Iterator[None]:
        """Run all reads of this thread within the block on one connection: opening one costs as much as a query."""
        with self.reading() as connection:
            before = getattr(self._thread_local, "connection", None)
            self._thread_local.connection = connection
            try:
                yield
            finally:
                self._thread_local.connection = before

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed when the block ends and rolled back when it raises."""
        with self._transaction("pg_advisory_xact_lock_shared", _SWEEPING_LOCK) as connection:
            yield connection

    @contextmanager
    def exclusive_writing(self) -> Iterator[Connection]:
        """A write transaction that excludes those of all processes, to find rows without references."""
        with self._transaction("pg_advisory_xact_lock", _SWEEPING_LOCK) as connection:
            yield connection

    @contextmanager
    def _transaction(self, lock: str, number: int) -> Iterator[Connection]:
        with self._named_failures(), self._writer, self._engine.connect() as connection:
            connection.execution_options(**(_SQLITE_WRITES if self.is_sqlite else _POSTGRESQL_TRANSACTION))
            with connection.begin():
                # SQLite admits one write transaction at a time.
                if not self.is_sqlite:
                    connection.execute(text(f"SELECT {lock}(:number)"), {"number": number})
                yield connection

    @contextmanager
    def migration_transaction(self) -> Iterator[Connection]:
        """A write transaction that excludes the migrations of other processes."""
        if self.is_sqlite:
            with self._named_failures():
                self._prepare_file()
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
            yield connection

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        """Turn driver errors into StoreError. Some are not wrapped by SQLAlchemy: those of COPY and of connecting."""
        driver = self._engine.dialect.loaded_dbapi
        try:
            yield
        except DBAPIError as error:
            if (named := _named(error.orig, driver)) is None:
                raise
            raise named from error
        except PoolTimeout as error:
            raise StoreUnavailable(f"no free connection to the database: {error}") from error
        except driver.Error as error:
            if (named := _named(error, driver)) is None:
                raise
            raise named from error

    def _prepare_file(self) -> None:
        """Create the file and switch it to WAL mode, which it keeps.

        SQLite's busy timeout does not cover the switch: while another process uses the file, it fails immediately.
        """
        if self.url.database:
            Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
        connection = self._engine.raw_connection()
        try:
            while not _in_wal_mode(connection):
                if time.monotonic() > deadline:
                    raise StoreUnavailable("the database is locked by another process")
                time.sleep(_RETRY_SECONDS)
        finally:
            connection.close()


def _in_wal_mode(connection: PoolProxiedConnection) -> bool:
    try:
        connection.cursor().execute("PRAGMA journal_mode = WAL").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return False
        raise
    return True


def _create_engine(url: str) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        engine = create_engine(url, isolation_level=_POSTGRESQL_READS, pool_size=8, max_overflow=24)
        event.listen(engine, "checkin", _note_return)
        event.listen(engine, "checkout", partial(_check_idle, engine.dialect))
        return engine
    arguments = {"timeout": BUSY_MILLISECONDS / 1000, "check_same_thread": False, "isolation_level": None}
    engine = create_engine(url, connect_args=arguments)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _note_return(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info[_RETURNED] = time.monotonic()


def _check_idle(dialect: Dialect, connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Replace all connections when one of them does not work: the server has ended them while they were idle."""
    now = time.monotonic()
    if now - record.info.get(_RETURNED, now) < _TRUSTED_SECONDS:
        return
    try:
        dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {BUSY_MILLISECONDS}",
        f"page_size = {_PAGE_BYTES}",
        # In WAL mode NORMAL syncs at checkpoints only: a killed process loses nothing; a power cut can lose commits.
        "synchronous = NORMAL",
        "foreign_keys = ON",
        f"cache_size = -{_CACHE_KIB}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock first: a transaction that upgrades from reading fails instead of waiting."""
    writes = connection.get_execution_options().get("hallmark_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _named(error: BaseException | None, driver: DBAPIModule) -> StoreError | None:
    missing_table = isinstance(error, sqlite3.OperationalError) and "no such " in str(error)
    if missing_table or getattr(error, "sqlstate", None) in _UNDEFINED:
        return NotMigrated(f"the database has not been migrated: {error}")
    misused = isinstance(error, sqlite3.InterfaceError)  # psycopg's InterfaceError means a lost connection instead
    if isinstance(error, driver.OperationalError | driver.InterfaceError) and not misused:
        return StoreUnavailable(f"the database is not available: {error}")
    if isinstance(error, sqlite3.DatabaseError) and error.sqlite_errorcode & 0xFF in _DAMAGED:
        return StoreError(f"the database file is damaged or not one of ours: {error}")
    return None
