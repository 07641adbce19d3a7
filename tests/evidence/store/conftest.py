"""An empty, migrated store on each database; set-up is done once and copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.store import Store, open_store
from tests.servers.postgres import PostgresServer


@pytest.fixture(scope="session")
def postgres(session_postgres: PostgresServer) -> PostgresServer:
    return session_postgres


@pytest.fixture(scope="session")
def postgres_template(session_postgres_template: str) -> str:
    return session_postgres_template


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without any table."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/hallmark.db"
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return postgres.create_database()


def copied(request: pytest.FixtureRequest, folder: Path, sqlite: str, postgresql: str) -> Iterator[str]:
    """A copy of the database of the fixture of one of these names, as the test's parameter says, until it ends."""
    if request.param == "sqlite":
        yield f"sqlite:///{shutil.copy(request.getfixturevalue(sqlite), folder / 'hallmark.db')}"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    made = postgres.create_database(template=request.getfixturevalue(postgresql))
    yield made
    postgres.drop_database(made)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated, empty database."""
    yield from migrated(request, tmp_path)


def migrated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database of the kind that the test's parameter names, until the test ends."""
    if request.param == "sqlite":
        yield f"sqlite:///{shutil.copy(request.getfixturevalue('sqlite_template'), tmp_path / 'hallmark.db')}"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.lent_database(request.getfixturevalue("postgres_template")) as lent:
        yield lent


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def mostly_sqlite_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated, empty database, on PostgreSQL in `make soak` only: for work above the store, which has its tests."""
    yield from migrated(request, tmp_path)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()
