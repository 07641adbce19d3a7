"""The cost of `hallmark scan` beside mcpscore: `python -m bench.scan [--rounds N] [--peer PATH] [--json FILE]`.

One server of the official SDK runs on loopback. In each round every command measures it once, in a process of its own
with warm bytecode caches. CPU is user and system time of that process and of what it started, memory is that of its
largest process. Without mcpscore (`pip install mcpscore`) only our own figures are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

HALLMARK = (sys.executable, "-c", "from workers.cli import main; main()")
SCAN = (*HALLMARK, "scan", "--allow-private", "--json")
CORE, FULL, CLIENT, HELP, PEER = "scan --core", "scan", "scan --official-client", "scan --help", "mcpscore"
GOALS = {CORE: 0.5, FULL: 1.0}
"""CPU as a share of mcpscore's, at most."""


@dataclass(frozen=True)
class Cost:
    """What one process and its children used: seconds of processor and wall time, MiB of the largest process."""

    cpu: float
    wall: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--peer", default=shutil.which("mcpscore"), help="path of the command mcpscore")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.sdk_server", "http"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        costs = measure(f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp", options.rounds, options.peer)
    finally:
        server.terminate()
        server.wait()
    for name, cost in costs.items():
        print(f"{name:24} {cost.cpu:6.2f} s CPU  {cost.wall:6.2f} s  {cost.memory:5.0f} MiB")
    if PEER in costs:
        for name, goal in GOALS.items():
            print(f"{name} takes {costs[name].cpu / costs[PEER].cpu:.2f} times the CPU of mcpscore (goal {goal:g})")
    else:
        print("mcpscore is not installed, so there is no ratio: pip install mcpscore, or --peer PATH")
    if options.json:
        options.json.write_text(json.dumps({name: asdict(cost) for name, cost in costs.items()}, indent=1))


def measure(url: str, rounds: int, peer: str | None) -> dict[str, Cost]:
    """The median cost of each command; the first round, which fills the caches, does not count."""
    commands: dict[str, Sequence[str]] = {
        CORE: (*SCAN, "--core", url),
        FULL: (*SCAN, url),
        CLIENT: (*SCAN, "--official-client", url),
        HELP: (*HALLMARK, "scan", "--help"),
    }
    if peer:
        commands[PEER] = (peer, "--json", "--no-config", url)
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HALLMARK_HOME": home, "HALLMARK_CACHE": home}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        found = [{name: run(command, environment) for name, command in commands.items()} for _ in range(rounds + 1)]
    return {name: _median([one[name] for one in found[1:]]) for name in commands}


def run(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{said.decode()}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(getattr(cost, name) for cost in costs) for name in ("cpu", "wall", "memory")))


if __name__ == "__main__":
    main()
