"""Nights under random faults end complete, with nothing lost, doubled or different."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
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
PORTION = 20
PORTIONS = range(-(-FAULTS // PORTION))
PATIENCE = 1500.0
QUICK_FAULTS = {"all workers are killed", "the broker loses its data", "the database crashes", "beat is killed"}


@dataclass(frozen=True)
class Plan:
    """How many servers, how long a lasting fault lasts, and how long the next one waits at most, in seconds.

    A server takes `latency` seconds for every answer, so that the night is long enough to be disturbed.
    """

    servers: int
    lasting: float
    pause: float
    latency: float


SMALL = Plan(servers=40, lasting=2.0, pause=1.5, latency=0.6)
LARGE = Plan(servers=2_000, lasting=10.0, pause=8.0, latency=0.3)


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


@pytest.mark.xdist_group("functional-celery-nights")
def test_a_few_faults_change_nothing(small: World, postgres: PostgresServer, tmp_path: Path) -> None:
    quick = tuple(fault for fault in faults.FAULTS if fault.name in QUICK_FAULTS)
    nights(tmp_path, postgres, small, SMALL, faults.drawn(3, 4, quick), seed=3)


@pytest.mark.xdist_group("functional-celery-nights")
def test_a_worker_that_stood_still_changes_nothing(small: World, postgres: PostgresServer, tmp_path: Path) -> None:
    """For longer than a server may take to answer, and than a lease lasts."""
    stall = [faults.Fault("the workers stand still", faults.stall_workers)]
    nights(tmp_path, postgres, small, SMALL, stall, seed=3)


@pytest.mark.soak
@pytest.mark.parametrize("number", PORTIONS)
def test_twenty_faults_change_nothing(large: World, postgres: PostgresServer, tmp_path: Path, number: int) -> None:
    many = faults.drawn(17, FAULTS, faults.possible(postgres.folder))
    mine = many[number * PORTION : (number + 1) * PORTION]
    nights(tmp_path, postgres, large, LARGE, mine, seed=number)


def nights(
    folder: Path, postgres: PostgresServer, world: World, plan: Plan, several: list[faults.Fault], *, seed: int
) -> None:
    """Nightly runs with faults in them until all have struck one that was not over.

    Raise AssertionError with the story of the night and everything that is wrong after it.
    """
    chance = random.Random(seed)
    waiting = list(several)
    while waiting:
        home = folder / f"night-{len(waiting)}"
        home.mkdir()
        struck = _night(home, postgres, world, plan, waiting, chance)
        assert struck, "the night was over before the first fault: make it longer"
        waiting = waiting[struck:]


def _night(
    folder: Path, postgres: PostgresServer, world: World, plan: Plan, waiting: list[faults.Fault], chance: random.Random
) -> int:
    """One night; how many of the faults struck it before it was published."""
    story: list[str] = []
    with valkey_server() as valkey, running_deployment(folder, postgres, valkey, world.registry) as deployment:
        began = time.monotonic()
        _wait_for_state(deployment, story, lambda state: state is not None)
        for fault in waiting:
            time.sleep(chance.uniform(0.2, plan.pause))
            state = deployment.state()
            if state is RunState.PUBLISHED:
                break
            story.append(f"{time.monotonic() - began:6.1f} s, {state}: {fault.name}")
            fault.apply(deployment, chance, plan.lasting)
        _wait_for_state(deployment, story, lambda state: state is RunState.PUBLISHED)
        sys.stdout.write("\n".join([*story, f"{time.monotonic() - began:6.1f} s, published", ""]))
        found = wrong(deployment.url, world.undisturbed)
        assert found == [], "\n".join([*story, *found, deployment.log()])
        return len(story)


def _wait_for_state(deployment: Deployment, story: list[str], reached: Callable[[RunState | None], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached(state := deployment.state()):
        if time.monotonic() > deadline:
            lines = [*story, f"{state} for {PATIENCE:.0f} s", deployment.log()]
            raise AssertionError("\n".join(lines))
        time.sleep(0.2)


def _world(folder: Path, plan: Plan) -> Iterator[World]:
    home = folder / "undisturbed"
    home.mkdir()
    with running_world(folder, plan.servers, latency=plan.latency) as registry:
        yield World(registry, undisturbed_night(home, registry))
