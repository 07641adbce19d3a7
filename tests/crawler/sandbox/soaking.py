"""Hundreds of boxes in one process, well-behaved, hostile and abandoned in turns, with a census before and after.

    python -m tests.crawler.sandbox.soaking --cache DIR [--runs 500] [--at-once 4]

A process of its own, so that its memory is the sandbox's and an ordinary user can be asked to run it.
Prints one JSON object; `leaks` is empty and `grown` small when nothing is left behind.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from crawler.launcher import LaunchedServer
from crawler.sandbox import Limits, Sandbox
from crawler.sandbox.kernel.limits import MIB
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox import census
from tests.crawler.sandbox.driving import HOSTILE, greet, read_all, sandbox
from tests.crawler.sandbox.index_server import IndexServer

# Small caps, so that what runs into one does so at once.
LIMITS = Limits(seconds=20, cpu_seconds=5, memory=192 * MIB, output=1 * MIB, errors=1 * MIB, processes=40)
SETTLED = 5.0  # seconds that the kernel may take to bury what was killed
MARKS = 5


@dataclass(slots=True)
class Soak:
    """What happened so far: outcomes by name, our memory at equal distances, and the dead who were left to pid 1."""

    outcomes: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)
    orphans: int = 0


Run = Callable[[Sandbox, random.Random], Awaitable[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    census.adopt_orphans()
    with IndexServer() as index, tempfile.TemporaryDirectory() as home:
        result = asyncio.run(soak(options.cache.resolve(), index, home, options.runs, options.at_once))
    print(json.dumps(result))
    sys.exit(bool(result["leaks"]))


async def soak(cache: Path, index: IndexServer, home: str, runs: int, at_once: int) -> dict[str, object]:
    """Run every kind of box once to warm up, count, run `runs` boxes, count again."""
    index.add_npm("npm-server")
    index.add_wheel("pypi-server")
    box = await sandbox(cache, index.environ(home), limits=LIMITS, slots=at_once)
    warm_up = Soak()
    await several(box, warm_up, 2 * len(KINDS), at_once)
    census.bury_orphans()
    before, outcomes = census.take(cache), Soak()
    began = time.perf_counter()
    for _ in range(MARKS):
        await several(box, outcomes, runs // MARKS, at_once)
        outcomes.orphans += census.bury_orphans()
        outcomes.memory.append(census.resident())
    seconds = time.perf_counter() - began
    return {
        "user": os.geteuid(),
        "runs": sum(outcomes.outcomes.values()),
        "seconds": round(seconds, 1),
        "outcomes": dict(sorted(outcomes.outcomes.items())),
        "orphans": outcomes.orphans,
        "memory": outcomes.memory,
        "grown": outcomes.memory[-1] - outcomes.memory[0],
        "leaks": await leaks(cache, before),
    }


async def several(box: Sandbox, soak: Soak, runs: int, at_once: int) -> None:
    """`runs` boxes of all kinds in turns, `at_once` at a time; the same ones for the same number."""
    numbers = iter(range(runs))

    async def work() -> None:
        for number in numbers:
            kind = KINDS[number % len(KINDS)]
            said = await kind(box, random.Random(number))
            soak.outcomes[f"{kind.__name__}: {said}"] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())


async def leaks(cache: Path, before: census.Census) -> list[str]:
    """What stays behind once the kernel had its time."""
    ends = time.monotonic() + SETTLED
    while (found := census.take(cache).leaks(before)) and time.monotonic() < ends:
        await asyncio.sleep(0.1)
    return found


async def npm_server(box: Sandbox, _: random.Random) -> str:
    """A package from the npm index, greeted and stopped."""
    launched = await started(box, Target(type=TargetType.NPM, identifier="npm-server", version="1.0.0"))
    return "answered" if isinstance(await greet(launched), dict) else "silent"


async def pypi_server(box: Sandbox, _: random.Random) -> str:
    """A package from the Python index, greeted and stopped."""
    launched = await started(box, Target(type=TargetType.PYPI, identifier="pypi-server", version="1.0"))
    return "answered" if isinstance(await greet(launched), dict) else "silent"


async def missing_package(box: Sandbox, _: random.Random) -> str:
    """A package that no index has."""
    found = await box.launch(Target(type=TargetType.NPM, identifier="no-such-server", version="1.0.0"))
    assert isinstance(found, Absent)
    return found.reason.value


async def daemons(box: Sandbox, _: random.Random) -> str:
    """Leaves its session several times over and ignores the signals to end."""
    launched = await started(box, attack("daemons", "6"))
    await launched.read(4096)
    return "killed" if (await launched.stop()).code is None else "ended"


async def forks(box: Sandbox, _: random.Random) -> str:
    """Forks until it may not."""
    return await until_it_ends(box, "forks", "500")


async def flood(box: Sandbox, _: random.Random) -> str:
    """Writes more than it may."""
    return await until_it_ends(box, "flood", "stdout", "64")


async def hoard(box: Sandbox, _: random.Random) -> str:
    """Takes more memory in several processes than they may have together."""
    return await until_it_ends(box, "hoard", "5", "60")


async def inodes(box: Sandbox, _: random.Random) -> str:
    """Makes files until it may not."""
    return await until_it_ends(box, "inodes", "/tmp", "4000")


async def abandoned(box: Sandbox, chance: random.Random) -> str:
    """A launch whose caller loses patience at any moment, between the fork and the first answer."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(chance.uniform(0.0, 0.12)):
            launched = await started(box, attack("sleep", "60"))
            try:
                await launched.read(64)
                await asyncio.sleep(60)
            finally:
                await launched.stop()
    return "given up"


KINDS: tuple[Run, ...] = (
    npm_server, daemons, abandoned, pypi_server, forks, flood, missing_package, abandoned, inodes, hoard,
)  # fmt: skip


def attack(*arguments: str) -> Target:
    """The attack script as a command on the command line."""
    return Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "attack.py", *arguments))


async def until_it_ends(box: Sandbox, *arguments: str) -> str:
    """Let an attack run into its limit; what it was stopped for."""
    launched = await started(box, attack(*arguments))
    await read_all(launched)
    end = await launched.stop()
    last = end.stderr.strip().splitlines()[-1:] or [""]
    return last[0].removeprefix("sandbox: ") if last[0].startswith("sandbox: ") else f"exit code {end.code}"


async def started(box: Sandbox, target: Target) -> LaunchedServer:
    """The running server of a target that must start."""
    launched = await box.launch(target)
    assert not isinstance(launched, Absent), launched
    return launched


if __name__ == "__main__":
    main()
