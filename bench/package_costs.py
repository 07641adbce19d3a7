"""CPU seconds of packages by phase, beside their package managers alone.

    python -m bench.package_costs [--cache DIR] [--only TEXT ...] [--count N] [--json FILE]

Packages of `packages.json` are installed into an empty cache, visited for a core and a full probe, and identified as
unchanged on the next day. `npm install` or `uv pip install` install the same version into an empty folder with an empty
cache, in the same minute. CPU is that of this process and of all that it started, counted by a control group (version
1, as root); the number of started processes is in parentheses.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.launching import target_of
from bench.packages import Clock, declared, fresh, name_of, opened
from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.questions.exchanges_body import CORE, FULL
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import LaunchedServer
from crawler.sandbox import Sandbox
from evidence.kinds import listing
from evidence.model import Absent, Dossier, Observed, Server, Target, TargetType

PHASES = ("install", "core", "full", "unchanged", "alone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """CPU seconds of the phases of one package, and the processes of its probes."""

    package: str
    outcome: str
    install: float
    core: float = 0.0
    core_starts: int = 0
    full: float = 0.0
    full_starts: int = 0
    unchanged: float = 0.0
    alone: float = 0.0


class Counting:
    """A launcher that counts what it starts."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self.starts = 0

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        self.starts += 1
        return await self._box.launch(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--only", nargs="*", default=[], help="packages whose name contains one of these texts")
    parser.add_argument("--count", type=int, default=12, help="so many packages, evenly from the list")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    entries = [entry for entry in declared() if not options.only or any(t in name_of(entry) for t in options.only)]
    chosen = entries[:: max(1, len(entries) // options.count)][: options.count]
    rows = asyncio.run(measure_all(options.cache.resolve(), chosen))
    print(make_table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


async def measure_all(cache: Path, entries: Sequence[Mapping[str, Any]]) -> list[Costs]:
    usage = count_together()

    def used() -> float:
        return int(usage.read_text("ascii")) / 1e9

    shared, rows = await opened(cache, Clock()), []
    for entry in {entry["registryType"]: entry for entry in entries}.values():
        await shared.prepare(target_of(entry))
    for entry in entries:
        async with fresh(shared) as (box, clock):
            rows.append(await measure(box, clock, name_of(entry), target_of(entry), used))
        print(rows[-1], flush=True)
    return rows


async def measure(box: Sandbox, clock: Clock, name: str, target: Target, used: Callable[[], float]) -> Costs:
    before = used()
    found = await box.prepare(target)
    install = used() - before
    if isinstance(found, Absent):
        return Costs(package=name, outcome=found.reason.value, install=install)
    outcome, core, core_starts = await probe(box, target, CORE, used)
    _, full, full_starts = await probe(box, target, FULL, used)
    clock.ahead += timedelta(days=1, minutes=1)
    before = used()
    assert await box.identify(target) is not None
    unchanged = used() - before
    return Costs(
        package=name,
        outcome=outcome,
        install=install,
        core=core,
        core_starts=core_starts,
        full=full,
        full_starts=full_starts,
        unchanged=unchanged,
        alone=await asyncio.to_thread(install_alone, target.type, found.name, found.version, used),
    )


async def probe(box: Sandbox, target: Target, depth: str, used: Callable[[], float]) -> tuple[str, float, int]:
    """The outcome, CPU seconds and started processes of one probe."""
    counting, before = Counting(box), used()
    engine = HttpEngine(user_agent="Hallmark/bench", guard=AddressGuard())
    collector = ProtocolCollector(engine, counting, HostRateLimiter(), lambda: datetime.now(UTC), depth=depth)
    server = Server(ref=target.identifier, name=target.identifier, targets=(target,))
    records = await collector.collect(server, Dossier(server=server, as_of=datetime.now(UTC)))
    [content] = [record.content for record in records if record.kind == listing.KIND]
    outcome = "listed" if isinstance(content, Observed) else content.reason.value
    return outcome, used() - before, counting.starts


def install_alone(ecosystem: TargetType, name: str, version: str, used: Callable[[], float]) -> float:
    """CPU seconds of the package manager alone, with empty cache and folder."""
    with tempfile.TemporaryDirectory() as folder:
        if ecosystem is TargetType.NPM:
            command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", f"{folder}/cache"]
            command += ["--prefix", f"{folder}/tree", f"{name}@{version}"]
        else:
            command = ["uv", "pip", "install", "--only-binary", ":all:", "--compile-bytecode"]
            command += ["--cache-dir", f"{folder}/cache", "--target", f"{folder}/tree", f"{name}=={version}"]
        before = used()
        subprocess.run(command, check=False, capture_output=True, env=os.environ)
        return used() - before


def count_together() -> Path:
    """Move this process into a control group of its own; the file with its nanoseconds, killed processes included."""
    group = Path("/sys/fs/cgroup/cpuacct") / f"hallmark-bench-{os.getpid()}"
    group.mkdir()
    (group / "cgroup.procs").write_text(str(os.getpid()))
    return group / "cpuacct.usage"


def make_table(rows: Sequence[Costs]) -> str:
    """Medians and means by ecosystem."""
    lines = ["| | packages | " + " | ".join(PHASES) + " |", "|---|--:|" + "--:|" * len(PHASES)]
    for kind in ("npm", "pypi", ""):
        some = [row for row in rows if row.package.startswith(kind) and row.core_starts]
        if some:
            cells = [_cell(some, phase) for phase in PHASES]
            lines.append(f"| {kind or 'all'} | {len(some)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(rows: Sequence[Costs], phase: str) -> str:
    mean = statistics.fmean(getattr(row, phase) for row in rows)
    starts = statistics.fmean(getattr(row, f"{phase}_starts", 0) for row in rows)
    return f"{mean:.2f}" + (f" ({starts:.1f})" if starts else "")


if __name__ == "__main__":
    main()
