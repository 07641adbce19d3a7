"""What a cold installation costs in the sandbox and with `npm install`, in turns on the same machine.

Both begin with nothing downloaded, ask the same index and run no scripts. Ours includes making the box, the relay,
settling, hashing and sealing the layer; processor time is that of the processes and all of their children.

    python -m bench.installing --rounds 5
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.sandbox import opened
from crawler.sandbox import Sandbox
from crawler.sandbox.toolchain import host
from evidence.model import Absent, Target, TargetType

PACKAGES = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    options = parser.parse_args()
    print(
        f"{'seconds, median (least)':44} {'ours wall':>16} {'cpu':>14} {'npm wall':>16} {'cpu':>14} {'cpu ratio':>10}"
    )
    for package in options.packages:
        compare(options.cache.resolve(), package, options.rounds)


def compare(cache: Path, package: str, rounds: int) -> None:
    ours, npms = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as fresh:
            ours.append(cold(cache, Path(fresh), package))
        with tempfile.TemporaryDirectory(dir=cache) as fresh:
            npms.append(spent(lambda fresh=fresh: npm(Path(fresh), package)))
    ratio = statistics.median(one.cpu for one in npms) / statistics.median(one.cpu for one in ours)
    cells = [figure([getattr(one, name) for one in found]) for found in (ours, npms) for name in ("wall", "cpu")]
    print(f"{package:44} {cells[0]:>16} {cells[1]:>14} {cells[2]:>16} {cells[3]:>14} {ratio:>9.1f}x")


def cold(cache: Path, fresh: Path, package: str) -> Cost:
    """Our installation into an empty cache; installing what is there costs nothing, which is checked."""
    for part in ("rootfs", "tools"):
        (fresh / part).symlink_to(cache / part)
    target = Target(type=TargetType.NPM, identifier=package)

    def install(box: Sandbox) -> None:
        found = asyncio.run(box.prepare(target))
        assert not isinstance(found, Absent), found

    box = asyncio.run(opened(fresh))
    first = spent(lambda: install(box))
    again = spent(lambda: install(box))
    assert again.cpu < first.cpu / 20, (first, again)
    shutil.rmtree(fresh / "layers")
    return first


def npm(fresh: Path, package: str) -> None:
    """`npm install` into an empty folder with an empty cache of its own."""
    theirs = shutil.which("npm")
    home = host.find_node_home()
    command = [theirs] if theirs else [str(home / "bin/node"), str(home / "lib/node_modules/npm/bin/npm-cli.js")]
    (fresh / "package.json").write_text('{"name": "bench", "private": true}')
    words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", str(fresh / "cache"), package]
    subprocess.run([*command, *words], cwd=fresh, env=dict(os.environ), capture_output=True, check=True)


def spent(work: Callable[[], None]) -> Cost:
    began, before = time.perf_counter(), processor()
    work()
    return Cost(time.perf_counter() - began, processor() - before)


def processor() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def figure(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f})"


if __name__ == "__main__":
    main()
