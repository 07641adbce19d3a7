"""`hallmark scan` of packages beside `npx` and `uvx` of the same packages, with cold caches, in turns.

    python -m bench.package_scan [PACKAGE ...] [--rounds N] [--cache DIR] [--json FILE]

Each round runs the package manager from an empty cache until `tools/list` is answered, then `hallmark scan --core` and
`hallmark scan` from an empty cache until they end. The root file system, Node and uv are there already, as npx and uvx
are. A package is `npm:NAME` or `pypi:NAME`; each must list its tools without settings. Goal: 1.3 times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench.draw import ask_for_tools, list_launch_words
from bench.launching import target_of
from bench.packages import Clock, opened
from evidence.model import Target

PACKAGES: Final = ("npm:@modelcontextprotocol/server-memory", "npm:@upstash/context7-mcp", "pypi:mcp-server-time")
GOAL: Final = 1.3
SCAN: Final = (sys.executable, "-c", "from workers.cli import main; main()", "scan")
LISTED: Final = (0, 4)
"""Exit codes of a scan of a server that was listed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="PACKAGE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {name: measure(name, options.rounds, options.cache.resolve()) for name in options.packages}
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def measure(package: str, rounds: int, cache: Path) -> dict[str, list[float]]:
    """Seconds of each command in each round."""
    kind, _, name = package.partition(":")
    target = target_of({"registryType": kind, "identifier": name, "transport": {"type": "stdio"}})
    asyncio.run(_prepare(cache, target))
    alone = "npx" if kind == "npm" else "uvx"
    commands: dict[str, Callable[[], float]] = {
        alone: lambda: asyncio.run(start_alone(target)),
        "core": lambda: scan(package, cache, "--core"),
        "full": lambda: scan(package, cache),
    }
    seconds: dict[str, list[float]] = {each: [] for each in commands}
    for _ in range(rounds):
        for each, run in commands.items():
            seconds[each].append(round(run(), 2))
    typical = {each: statistics.median(times) for each, times in seconds.items()}
    ratios = ", ".join(f"{each} {typical[each] / typical[alone]:.2f} times" for each in ("core", "full"))
    print(f"{package}: {alone} {typical[alone]:.1f} s, {ratios} (goal {GOAL}); rounds {seconds}", flush=True)
    return seconds


async def start_alone(target: Target) -> float:
    """Seconds of npx or uvx from an empty cache until the tools are listed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        kept = {name: value for name, value in os.environ.items() if "cache" not in name.lower()}
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *list_launch_words(target),
            cwd=home,
            env={**kept, "npm_config_cache": f"{home}/npm", "UV_CACHE_DIR": f"{home}/uv"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            limit=1 << 26,
        )
        answer = await ask_for_tools(process)
        seconds = time.perf_counter() - began
        os.killpg(process.pid, 9)
        await process.wait()
    if not answer.endswith(" tools"):
        sys.exit(f"{target.identifier} lists no tools: {answer or 'it ended'}")
    return seconds


def scan(package: str, cache: Path, *options: str) -> float:
    """Seconds of a scan with an empty cache but for the root file system and the tools."""
    own = Path(tempfile.mkdtemp(dir=cache))
    own.chmod(0o755)
    try:
        for part in ("rootfs", "tools", "slots"):
            (own / part).symlink_to(cache / part)
        environment = {**os.environ, "HALLMARK_HOME": str(own / "home"), "HALLMARK_CACHE": str(own)}
        began = time.perf_counter()
        done = subprocess.run(
            (*SCAN, package, *options, "--json"),
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        seconds = time.perf_counter() - began
    finally:
        shutil.rmtree(own)
    if done.returncode not in LISTED:
        sys.exit(f"hallmark scan {package} ended with {done.returncode}:\n{done.stderr.decode()}")
    return seconds


async def _prepare(cache: Path, target: Target) -> None:
    """Install the root file system and the tools that the package needs, and the package once."""
    box = await opened(cache, Clock())
    await box.prepare(target)


if __name__ == "__main__":
    main()
