"""Nightly runs over real packages: processor seconds, outcomes and disk of each night, as a crawl does them.

    python -m bench.package_nights FOLDER [--nights N] [--changed SHARE] [--count N] [--packages FILE]
                                          [--env NAME=VALUE ...]

The packages of `packages.json`, or of another such file, become a registry in FOLDER, and `hallmark run` reads it once
for each night, with a database and a cache of its own there. Between two nights everything that the cache remembers
ages by a day. From the second night on, another SHARE of the packages changes: it is declared differently, and its
files are gone. GitHub and OSV are not asked. CPU is that of the run and of all that it started, counted by a control
group (version 1, as root).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.package_costs import count_together
from bench.packages import declared

SEED: Final = "hallmark-package-nights"
DAY: Final = timedelta(days=1, minutes=1)
SETTINGS: Final = {"HALLMARK_SOURCES": '["package","source"]', "HALLMARK_CARRY_STARTS": "true"}
_NOTHING_MEASURED: Final = 3
_RUN: Final = "from workers.cli import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What one night did, and took."""

    changed: int
    outcomes: Counter[str]
    cpu: float
    seconds: float
    layers: int
    database: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nights", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the number of the first night, to go on in a folder")
    parser.add_argument("--changed", type=float, default=0.05)
    parser.add_argument("--count", type=int, help="so many packages, evenly from the list")
    parser.add_argument("--packages", type=Path, help="other packages, in the form of packages.json")
    parser.add_argument("--env", nargs="*", default=[], metavar="NAME=VALUE", help="further settings")
    options = parser.parse_args()
    entries = json.loads(options.packages.read_text("utf-8")) if options.packages else declared()
    count = min(options.count or len(entries), len(entries))
    entries = entries[:: len(entries) // count][:count]
    environment = SETTINGS | dict(one.split("=", 1) for one in options.env)
    usage = count_together()
    print("|night|changed|outcomes|CPU s|a package|s|cores|layers, MB|database, MB|", "|--:" * 9 + "|", sep="\n")
    for number in range(options.first, options.first + options.nights):
        night = run_night(options.folder.resolve(), entries, number, options.changed, environment, usage)
        print(make_row(number, night, len(entries)), flush=True)


def run_night(
    folder: Path, entries: Sequence[dict[str, Any]], number: int, share: float, settings: dict[str, str], usage: Path
) -> Night:
    """Let a day pass, change some packages, and run."""
    cache = folder / "cache"
    changed = choose_changed(entries, number, share) if number else []
    write_registry(folder / "registry", entries, changed, number)
    age(cache)
    forget(cache, {str(entry["identifier"]) for entry in changed})
    (folder / "home").mkdir(exist_ok=True)
    evening = datetime.now(UTC).replace(hour=2, minute=0) + timedelta(days=number + 1)
    environment = {
        **os.environ,
        "HALLMARK_HOME": str(folder / "home"),
        "HALLMARK_CACHE": str(cache),
        "HALLMARK_CLOCK": evening.isoformat(),
        **settings,
    }
    used, began = read(usage), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _RUN, "run", "--registry", str(folder / "registry"), "--fresh", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in {0, _NOTHING_MEASURED}:
        sys.exit(f"night {number + 1} ended with {done.returncode}; its messages are above")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    servers = [event for event in events if event["event"] == "server"]
    return Night(
        changed=len(changed),
        outcomes=Counter(
            "listed" if one["tools"] else (one["absent"] or {"reason": "no tools"})["reason"] for one in servers
        ),
        cpu=read(usage) - used,
        seconds=time.perf_counter() - began,
        layers=measure(cache / "layers"),
        database=measure(folder / "home"),
    )


def choose_changed(entries: Sequence[dict[str, Any]], number: int, share: float) -> list[dict[str, Any]]:
    """Those that change in a night."""
    return random.Random(f"{SEED} {number}").sample(list(entries), round(len(entries) * share))


def write_registry(folder: Path, entries: Sequence[dict[str, Any]], changed: Sequence[Any], number: int) -> None:
    """One registry entry a package; a changed one declares a further variable from that night on."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, entry in enumerate(entries):
        path = folder / f"{place:03}.json"
        if path.exists() and entry not in changed:
            continue
        variables = [*entry.get("environmentVariables", []), {"name": "BENCH_NIGHT", "value": str(number)}]
        package = {**entry, "environmentVariables": variables}
        server = {"name": f"io.github.bench/p{place:03}", "description": "A package.", "version": "1.0.0"}
        path.write_text(json.dumps({**server, "packages": [package]}), "utf-8")


def age(cache: Path) -> None:
    """Let everything that the cache remembers have happened a day earlier."""
    for path in [*cache.glob("index/*.json"), *cache.glob("seals/*.json")]:
        known = json.loads(path.read_text("utf-8"))
        times = {name: known[name] for name in ("checked_at", "hashed_at", "at") if name in known}
        earlier = {name: (datetime.fromisoformat(value) - DAY).isoformat() for name, value in times.items()}
        path.write_text(json.dumps(known | earlier), "utf-8")


def forget(cache: Path, names: set[str]) -> None:
    """Remove the installations of some packages."""
    for path in cache.glob("index/*.json"):
        known = json.loads(path.read_text("utf-8"))
        if known.get("name") in names:
            path.unlink()
            shutil.rmtree(cache / "layers" / known["layer"], ignore_errors=True)


def read(usage: Path) -> float:
    return int(usage.read_text("ascii")) / 1e9


def measure(folder: Path) -> int:
    """Bytes on the disk below a folder."""
    done = subprocess.run(["du", "-s", "-B1", folder], capture_output=True, text=True, check=False)
    return int(done.stdout.split()[0]) if done.stdout else 0


def make_row(number: int, night: Night, packages: int) -> str:
    outcomes = ", ".join(f"{count} {name}" for name, count in night.outcomes.most_common())
    cells = [str(number + 1), str(night.changed), outcomes, f"{night.cpu:.0f}", f"{night.cpu / packages:.2f}"]
    cells += [f"{night.seconds:.0f}", f"{night.cpu / night.seconds:.2f}"]
    cells += [f"{size / 1e6:.0f}" for size in (night.layers, night.database)]
    return f"|{'|'.join(cells)}|"


if __name__ == "__main__":
    main()
