"""A network of its own for the simulated world, made with bubblewrap.

Inside, the addresses of the world lead to this machine, names are asked of the fleet, and nothing else can be reached.
The product then runs as it does outside: with its guard closed to private addresses, and with a gap at every host.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from bench.simulation.population import NETWORK

INSIDE: Final = "HALLMARK_BENCH_INSIDE"
_ROUTE: Final = f'ip route add local {NETWORK} dev lo && exec "$@"'


def is_inside() -> bool:
    """True in a process that `enter` started."""
    return os.environ.get(INSIDE) == "1"


def command_inside(command: list[str], folder: Path) -> list[str]:
    """A command that runs another one in a network of its own; `folder` keeps its resolver's configuration."""
    resolver = folder / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:2 attempts:2\n")
    where = str(Path("/etc/resolv.conf").resolve())
    return [
        *(
            "bwrap",
            "--dev-bind",
            "/",
            "/",
            "--unshare-net",
            "--unshare-pid",
            "--proc",
            "/proc",
            "--cap-add",
            "ALL",
            "--die-with-parent",
        ),
        *("--ro-bind", str(resolver), where, "--setenv", INSIDE, "1", "sh", "-c", _ROUTE, "inside", *command),
    ]


def enter(folder: Path, module: str) -> int:
    """Run this very command, of a module, in a network of its own and return its exit code."""
    command = [sys.executable, "-m", module, *sys.argv[1:]]
    return subprocess.run(command_inside(command, folder), check=False).returncode


def why_not(folder: Path) -> str:
    """Empty when such a network can be made here, else what the attempt said."""
    try:
        done = subprocess.run(command_inside(["true"], folder), capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"
