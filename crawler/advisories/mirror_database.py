"""The SQLite file of the mirror: a copy that may be deleted at any time, without migrations (docs/decisions/0019)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LAYOUT_VERSION: Final = 1
"""Bumped whenever a table or its content changes; a file of another layout is deleted."""

BUSY_SECONDS: Final = 30.0

_TABLES: Final = """
CREATE TABLE ecosystem (
    name TEXT PRIMARY KEY, mark TEXT NOT NULL, refreshed_at TEXT NOT NULL,
    reconciled_at TEXT NOT NULL, whole INTEGER NOT NULL, records INTEGER NOT NULL
);
CREATE TABLE record (
    number INTEGER PRIMARY KEY, ecosystem TEXT NOT NULL, id TEXT NOT NULL, modified TEXT NOT NULL,
    withdrawn INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (ecosystem, id)
);
CREATE TABLE affected (
    ecosystem TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, parts BLOB NOT NULL,
    PRIMARY KEY (ecosystem, name, id)
) WITHOUT ROWID;
CREATE INDEX affected_by_id ON affected (ecosystem, id);
CREATE TABLE alias (
    ecosystem TEXT NOT NULL, id TEXT NOT NULL, other TEXT NOT NULL, PRIMARY KEY (ecosystem, id, other)
) WITHOUT ROWID;
CREATE INDEX alias_by_id ON alias (id);
CREATE INDEX alias_by_other ON alias (other);
CREATE TABLE bad (ecosystem TEXT NOT NULL, name TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY (ecosystem, name));
"""


APPLICATION_ID: Final = 0x48414C4D
"""Marks the file as a mirror (`PRAGMA application_id`), so that no other database is ever deleted."""


class MirrorUnreadable(Exception):
    """The file is not a mirror, or is damaged; the message says what to do."""


@contextmanager
def open_for_reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection with one consistent state, whatever a refresh writes meanwhile; None when there is no mirror."""
    if not path.is_file():
        yield None
        return
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=5)
    except sqlite3.Error as error:
        raise MirrorUnreadable(f"the mirror of advisories cannot be opened: {error}") from error
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        ours = (
            _number(connection, "application_id") == APPLICATION_ID
            and _number(connection, "user_version") == LAYOUT_VERSION
        )
        yield connection if ours else None
    except sqlite3.DatabaseError as error:
        raise MirrorUnreadable(f"the mirror of advisories cannot be read: {error}") from error
    finally:
        connection.close()


@contextmanager
def open_for_writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection without open transaction; a mirror of another layout is replaced. Raise MirrorUnreadable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        if _is_outdated(connection):
            connection.close()
            _remove(path)
            connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if _number(connection, "application_id") != APPLICATION_ID:
            marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {LAYOUT_VERSION};"
            connection.executescript(f"BEGIN; {_TABLES} {marks} COMMIT;")
        yield connection
    except sqlite3.OperationalError:
        raise  # a full disk or a lock does not mean damage
    except sqlite3.DatabaseError as error:
        raise MirrorUnreadable(
            f"the mirror of advisories is damaged: {error}; delete it to have it made anew"
        ) from error
    finally:
        connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_outdated(connection: sqlite3.Connection) -> bool:
    """Whether it is a mirror of another layout; an empty file counts as one. Raise MirrorUnreadable for other files."""
    application = _number(connection, "application_id")
    if application == APPLICATION_ID:
        return _number(connection, "user_version") != LAYOUT_VERSION
    if application or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise MirrorUnreadable("the file is another database and no mirror of advisories; name another path")
    return False


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    number: int = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
    return number
