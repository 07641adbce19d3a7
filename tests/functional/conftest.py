"""The fleet, the databases and the undisturbed export that every disturbed one must equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Undisturbed:
    """One embedded run that nothing disturbed: where it was, what it said of itself, and its comparable export."""

    embedded: Embedded
    facts: dict[str, Any]
    export: bytes


@pytest.fixture(scope="session")
def undisturbed_run(whole_fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    embedded = embedded_run(tmp_path_factory.mktemp("undisturbed"), whole_fleet)
    facts = embedded.finish()
    assert facts["ok"], embedded.log()
    return Undisturbed(embedded, facts, comparable(embedded.url))


@pytest.fixture(scope="session")
def undisturbed(undisturbed_run: Undisturbed) -> bytes:
    """Its comparable export."""
    return undisturbed_run.export


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
