"""The fleet, the databases and the undisturbed export that every disturbed one must equal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.cluster import Cluster, running_cluster
from tests.functional.fleet import Fleet, running_fleet
from tests.functional.processes import Embedded, comparable
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import ValkeyServer, valkey_server


@pytest.fixture(scope="session")
def whole_fleet() -> Iterator[Fleet]:
    with running_fleet() as fleet:
        yield fleet


@pytest.fixture
def fleet(whole_fleet: Fleet) -> Fleet:
    whole_fleet.break_again()
    return whole_fleet


@pytest.fixture(scope="session")
def undisturbed(whole_fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The comparable export of one embedded run that nothing disturbed."""
    home = tmp_path_factory.mktemp("undisturbed")
    embedded = embedded_run(home, whole_fleet)
    assert embedded.finish()["ok"], embedded.log()
    return comparable(embedded.url)


@pytest.fixture
def embedded(tmp_path: Path, fleet: Fleet) -> Embedded:
    return embedded_run(tmp_path, fleet)


@pytest.fixture(scope="session")
def postgres(session_postgres: PostgresServer) -> PostgresServer:
    return session_postgres


@pytest.fixture
def valkey() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


@pytest.fixture
def cluster(tmp_path: Path, postgres: PostgresServer, valkey: ValkeyServer, fleet: Fleet) -> Iterator[Cluster]:
    with running_cluster(tmp_path, postgres, valkey, fleet.registry) as deployment:
        yield deployment


def embedded_run(home: Path, fleet: Fleet) -> Embedded:
    registries = f'[{{"name": "local", "url": "{fleet.registry}"}}]'
    return Embedded(home, "local", {"HALLMARK_REGISTRIES": registries})
