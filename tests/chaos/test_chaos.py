"""Nights under random faults end complete, with nothing lost, doubled or different."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidence.store import RunState
from tests.chaos import faults
from tests.chaos.conftest import undisturbed_night
from tests.chaos.deployment import Deployment, running_deployment
from tests.chaos.verdict import wrong
from tests.chaos.world import running_world
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import valkey_server

FAULTS = int(os.environ.get("HALLMARK_CHAOS_FAULTS", "200"))
FAULTS_A_NIGHT = 10
NIGHTS = range(-(-FAULTS // FAULTS_A_NIGHT))
PATIENCE = 600.0
QUICK_FAULTS = {"all workers are killed", "the broker loses its data", "the database crashes", "beat is killed"}


@dataclass(frozen=True)
class Plan:
    """How many servers, how long a lasting fault lasts, and how long the next one waits at most, in seconds."""

    servers: int
    lasting: float
    pause: float


SMALL = Plan(servers=60, lasting=2.0, pause=1.5)
LARGE = Plan(servers=2_000, lasting=60.0, pause=8.0)


@dataclass(frozen=True)
class World:
    """A registry, and what an undisturbed night over it exports."""

    registry: str
    undisturbed: bytes


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from _world(tmp_path_factory.mktemp("world"), SMALL)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from _world(tmp_path_factory.mktemp("world"), LARGE)


@pytest.mark.xdist_group("functional-celery")
def test_a_few_faults_change_nothing(small: World, postgres: PostgresServer, tmp_path: Path) -> None:
    quick = tuple(fault for fault in faults.FAULTS if fault.name in QUICK_FAULTS)
    night(tmp_path, postgres, small, SMALL, faults.drawn(3, 4, quick), seed=3)


@pytest.mark.soak
@pytest.mark.parametrize("number", NIGHTS)
def test_ten_faults_a_night_change_nothing(large: World, postgres: PostgresServer, tmp_path: Path, number: int) -> None:
    many = faults.drawn(17, FAULTS, faults.possible(postgres.folder))
    mine = many[number * FAULTS_A_NIGHT : (number + 1) * FAULTS_A_NIGHT]
    night(tmp_path, postgres, large, LARGE, mine, seed=number)


def night(
    folder: Path, postgres: PostgresServer, world: World, plan: Plan, several: list[faults.Fault], *, seed: int
) -> None:
    """One nightly run with faults in it; raise AssertionError with everything that is wrong afterwards."""
    chance = random.Random(seed)
    story: list[str] = []
    with valkey_server() as valkey, running_deployment(folder, postgres, valkey, world.registry) as deployment:
        began = time.monotonic()
        for fault in several:
            time.sleep(chance.uniform(0.2, plan.pause))
            story.append(f"{time.monotonic() - began:.1f} s ({deployment.state()}): {fault.name}")
            fault.apply(deployment, chance, plan.lasting)
        _wait_until_published(deployment, story)
        story.append(f"{time.monotonic() - began:.1f} s: published")
        found = wrong(deployment.url, world.undisturbed)
        assert found == [], "\n".join([*story, *found, deployment.log()])


def _wait_until_published(deployment: Deployment, story: list[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while deployment.state() is not RunState.PUBLISHED:
        if time.monotonic() > deadline:
            lines = [*story, f"not published {PATIENCE:.0f} s after the last fault", deployment.log()]
            raise AssertionError("\n".join(lines))
        time.sleep(0.2)


def _world(folder: Path, plan: Plan) -> Iterator[World]:
    home = folder / "undisturbed"
    home.mkdir()
    with running_world(folder, plan.servers) as registry:
        yield World(registry, undisturbed_night(home, registry))
