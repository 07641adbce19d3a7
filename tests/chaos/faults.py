"""Faults in a deployment, drawn by a seed. Each fault ends by itself, as if it were repaired."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.chaos.deployment import BEAT, WEB, WORKERS, Deployment, forget_everything, revive

LONGER = 6
"""How many times longer than other faults the network of the broker is cut: a minute in the long run."""

STALL = 12
"""How many times longer a process stands still: two minutes in the long run."""

Apply: TypeAlias = Callable[[Deployment, random.Random, float], None]


@dataclass(frozen=True)
class Fault:
    """One kind of fault; `apply` takes how many seconds a lasting one lasts."""

    name: str
    apply: Apply


def drawn(seed: int, count: int, faults: tuple[Fault, ...]) -> list[Fault]:
    """`count` faults, every kind about equally often, in an order of the seed."""
    chance = random.Random(seed)
    rounds = [chance.sample(faults, len(faults)) for _ in range(-(-count // len(faults)))]
    return [fault for one in rounds for fault in one][:count]


def _kill_worker(deployment: Deployment, chance: random.Random, _: float) -> None:
    deployment.kill(chance.choice(WORKERS))


def _kill_all_workers(deployment: Deployment, _: random.Random, __: float) -> None:
    for name in WORKERS:
        deployment.kill(name)


def _kill_beat(deployment: Deployment, _: random.Random, __: float) -> None:
    deployment.kill(BEAT)


def _kill_web(deployment: Deployment, _: random.Random, __: float) -> None:
    deployment.kill(WEB)


def _restart_broker(deployment: Deployment, _: random.Random, __: float) -> None:
    deployment.valkey.restart()


def _lose_broker(deployment: Deployment, _: random.Random, __: float) -> None:
    deployment.valkey.kill()
    forget_everything(deployment.valkey)
    revive(deployment.valkey)


def _cut_broker(deployment: Deployment, _: random.Random, seconds: float) -> None:
    with deployment.broker.cut():
        time.sleep(seconds * LONGER)


def stall_workers(deployment: Deployment, _: random.Random, seconds: float) -> None:
    """Stall the workers one after the other, each for longer than a lease lasts."""
    deployment.wait_until_leased()
    time.sleep(1)
    for name in WORKERS:
        with deployment.stalled(name):
            time.sleep(4 * seconds)


def _stall_worker(deployment: Deployment, chance: random.Random, seconds: float) -> None:
    """Shorter and longer than a lease lasts."""
    with deployment.stalled(chance.choice(WORKERS)):
        time.sleep(chance.uniform(5, STALL * seconds))


def _stall_everything(deployment: Deployment, chance: random.Random, seconds: float) -> None:
    """As a machine that is suspended; the databases are elsewhere."""
    with deployment.stalled(BEAT, *WORKERS, WEB):
        time.sleep(chance.uniform(5, STALL * seconds))


def _stall_database(deployment: Deployment, chance: random.Random, seconds: float) -> None:
    with deployment.postgres.stalled():
        time.sleep(chance.uniform(5, STALL * seconds))


def _cut_database(deployment: Deployment, _: random.Random, seconds: float) -> None:
    with deployment.database.cut():
        time.sleep(seconds)


def _restart_database(deployment: Deployment, _: random.Random, __: float) -> None:
    deployment.postgres.restart()


def _crash_database(deployment: Deployment, _: random.Random, __: float) -> None:
    deployment.postgres.kill()
    revive(deployment.postgres)


def _slow_database(deployment: Deployment, _: random.Random, seconds: float) -> None:
    with deployment.database.slowed(0.05):
        time.sleep(seconds)


def _fill_disk(deployment: Deployment, _: random.Random, seconds: float) -> None:
    """Leave no byte where the evidence is stored; a database that dies of it is started again when there is room."""
    ballast = Path(deployment.postgres.folder) / "ballast"
    with suppress(OSError), ballast.open("wb") as file:
        while True:
            os.posix_fallocate(file.fileno(), file.tell(), 1 << 16)
            file.seek(1 << 16, os.SEEK_CUR)
    time.sleep(seconds)
    ballast.unlink()
    if deployment.postgres.died:
        deployment.postgres.kill()
        revive(deployment.postgres)


def _second_beat(deployment: Deployment, _: random.Random, seconds: float) -> None:
    with deployment.another(BEAT):
        time.sleep(seconds)


def _jump_clock(deployment: Deployment, chance: random.Random, seconds: float) -> None:
    """A worker of a machine whose clock is an hour off, either way."""
    with deployment.another("worker", before=("faketime", "-f", chance.choice(("+1h", "-1h")))):
        time.sleep(max(seconds, 5))


FAULTS = (
    Fault("a worker is killed", _kill_worker),
    Fault("all workers are killed", _kill_all_workers),
    Fault("beat is killed", _kill_beat),
    Fault("the health app is killed", _kill_web),
    Fault("the broker restarts", _restart_broker),
    Fault("the broker loses its data", _lose_broker),
    Fault("the network of the broker is cut", _cut_broker),
    Fault("the database restarts", _restart_database),
    Fault("the database crashes", _crash_database),
    Fault("the database is slow", _slow_database),
    Fault("a second beat runs", _second_beat),
    Fault("a worker stands still", _stall_worker),
    Fault("beat and all workers stand still", _stall_everything),
    Fault("the database stands still", _stall_database),
    Fault("the network of the database is cut", _cut_database),
)
DISK = Fault("the disk is full", _fill_disk)
CLOCK = Fault("a worker's clock is wrong", _jump_clock)


def possible(folder: Path) -> tuple[Fault, ...]:
    """The faults that can be made here: a full disk needs a small disk, a wrong clock needs faketime."""
    disk = (DISK,) if shutil.disk_usage(folder).total < 4 << 30 else ()
    clock = (CLOCK,) if shutil.which("faketime") else ()
    return FAULTS + disk + clock
