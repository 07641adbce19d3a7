"""Memory and start of an idle fleet: `python -m bench.fleet_memory`.

Starts what `hallmark fleet` starts on this machine, with a real PostgreSQL and Valkey, first as interpreters of their
own (the commands of `--dry-run --json`) and then by the command, which forks them from one process. After a while
without work it prints the memory of all processes, each shared page divided among those that share it (PSS), and the
CPU that they have used.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil

from tests.functional.processes import environment
from tests.servers.daemon import free_port
from tests.servers.postgres import postgres_server
from tests.servers.valkey import valkey_server

MIB = 1 << 20
FLEET = (sys.executable, "-m", "workers.cli", "fleet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="from the start until the measurement")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres, valkey = stack.enter_context(postgres_server()), stack.enter_context(valkey_server())
        found = {}
        for name in ("alone", "forked"):
            home = folder / name
            home.mkdir()
            variables = environment(
                home,
                HALLMARK_DATABASE_URL=postgres.create_database(),
                HALLMARK_REDIS_URL=valkey.url,
                HALLMARK_REGISTRIES=json.dumps([str(home)]),
                HALLMARK_CANARIES="[]",
            )
            ports = ("--health-port", str(free_port()), "--site-port", str(free_port()))
            with (home / "log").open("wb") as log:
                found[name] = measure(start(name, ports, variables, log.fileno()), options.seconds)
    for name, (processes, memory, cpu) in found.items():
        print(f"{name:6}  {processes} processes  {memory / MIB:.0f} MiB  {cpu:.1f} s of CPU")
    (_, before, cpu_before), (_, after, cpu_after) = found["alone"], found["forked"]
    print(f"ratio   memory {after / before:.2f}  CPU {cpu_after / cpu_before:.2f}")


def start(name: str, ports: Sequence[str], variables: dict[str, str], log: int) -> list[subprocess.Popen[bytes]]:
    """The command, or each process that it lists as one of its own."""
    commands: Iterator[Sequence[str]] = iter([(*FLEET, *ports)])
    if name == "alone":
        listed = subprocess.run((*FLEET, *ports, "--dry-run", "--json"), env=variables, check=True, capture_output=True)
        commands = (json.loads(line)["command"] for line in listed.stdout.splitlines())
    return [
        subprocess.Popen(one, env=variables, stdout=log, stderr=log, cwd=variables["HOME"], start_new_session=True)
        for one in commands
    ]


def measure(started: Sequence[subprocess.Popen[bytes]], seconds: float) -> tuple[int, int, float]:
    """The count of processes, their bytes and their CPU in seconds; then all are asked to end."""
    time.sleep(seconds)
    roots = [psutil.Process(one.pid) for one in started]
    every = [process for root in roots for process in (root, *root.children(recursive=True))]
    memory = sum(process.memory_full_info().pss for process in every)
    times = [process.cpu_times() for process in every]
    for one in started:
        os.kill(one.pid, signal.SIGTERM)
    for one in started:
        one.wait()
    return len(every), memory, sum(one.user + one.system for one in times)


if __name__ == "__main__":
    main()
