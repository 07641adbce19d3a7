"""CPU seconds of packages by phase, beside their package managers alone.

    python -m bench.package_costs [--cache DIR] [--only NAME ...] [--json FILE] [--before FILE]

Each package is installed into an empty cache, visited for a core and a full probe, identified as unchanged on the next
day, read in the index and in its source, and scored. `npm install` or `uv pip install` install the same version into an
empty folder with an empty cache, in the same minute. A phase of an installation ends when the sandbox shows the next
one; a start ends with the answer to its first request. bun downloads while it resolves, so its resolution ends with the
first package that it has downloaded. CPU is that of this process and, apart, of all that it started, counted by a
control group (version 1, as root). What a process does only once is done for two other packages before. Nothing is
removed before the end, since ext4 takes several times the CPU to create files within minutes after many were removed.

The JSON file keeps the rounds of earlier commands. The table has the means over packages of medians over rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, astuple, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from bench.launching import Watched, target_of
from bench.packages import Clock as MovableClock
from bench.packages import declared, fresh, name_of, opened
from crawler.collectors.derivers import build_derivers
from crawler.collectors.package import PackageCollector
from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.questions.exchanges_body import CORE, FULL
from crawler.collectors.source import SourceCollector
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import LaunchedServer
from crawler.sandbox import InstalledTree, Sandbox
from crawler.sandbox.install import installer
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.derive.drift import no_approval
from evidence.kinds import listing
from evidence.model import Absent, Dossier, Observed, Record, Server, Target, TargetType
from workers.clock import SystemClock
from workers.settings.environment import read_settings
from workers.stages.scorecards import score_dossiers
from workers.wiring.project_collectors import ProjectCollectors

EACH_START: Final = "each start"
VISIT: Final = ("resolve", "download", "unpack", "full probe", "read index", "read source", "score")
"""The phases of a first visit besides its starts."""
FIRST_VISIT: Final = "first visit"
ALONE: Final = "alone"
PHASES: Final = (*VISIT[:3], EACH_START, "core probe", *VISIT[3:], FIRST_VISIT, "unchanged", ALONE)
FIRST: Final = ("npm:@modelcontextprotocol/server-sequential-thinking", "pypi:mcp-server-calculator")
PACKAGES: Final = (
    "npm:@modelcontextprotocol/server-memory",
    "npm:@playwright/mcp",
    "npm:@upstash/context7-mcp",
    "npm:firecrawl-mcp",
    "npm:@notionhq/notion-mcp-server",
    "pypi:mcp-server-time",
    "pypi:mcp-server-fetch",
    "pypi:duckduckgo-mcp-server",
    "pypi:redis-mcp-server",
)
PINNED: Final = {TargetType.NPM: "@", TargetType.PYPI: "=="}
START: Final = "starting"
"""What the sandbox shows before it starts a process."""
POLL: Final = 0.05
"""Seconds between two looks at the downloads of an installation, which production makes every 0.25."""


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU seconds of this process, and of those that it started."""

    ours: float = 0.0
    started: float = 0.0

    def __add__(self, other: Cpu) -> Cpu:
        return Cpu(self.ours + other.ours, self.started + other.started)

    def __sub__(self, other: Cpu) -> Cpu:
        return Cpu(self.ours - other.ours, self.started - other.started)


@dataclass(slots=True, kw_only=True)
class Costs:
    """The phases of one package in one round, and the processes that its probes started."""

    package: str
    outcome: str = ""
    phases: dict[str, Cpu] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)


class PhaseClock:
    """CPU between two events, each of which begins a phase."""

    def __init__(self) -> None:
        self._usage = count_together()
        self._events = [("", self._read())]

    def begin(self, phase: str) -> None:
        self._events.append((phase, self._read()))

    def take(self) -> list[tuple[str, Cpu]]:
        """The phases since the last call, in order."""
        self.begin("")
        events, self._events = self._events, self._events[-1:]
        return [(phase, end - start) for (phase, start), (_, end) in pairwise(events)]

    def _read(self) -> Cpu:
        ours = time.process_time()
        return Cpu(ours, int(self._usage.read_text("ascii")) / 1e9 - ours)


class StartWatch:
    """A launcher whose servers begin a phase with their first answer; the sandbox begins one with each start."""

    def __init__(self, box: Sandbox, clock: PhaseClock) -> None:
        self._box = box
        self._clock = clock

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        launched = await self._box.launch(target)
        return launched if isinstance(launched, Absent) else Watched(launched, lambda: self._clock.begin("ask"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--only", nargs="*", default=PACKAGES, help="names of packages, such as npm:NAME")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--before", type=Path, help="such a file of other code, for columns beside")
    options = parser.parse_args()
    rows = read_rows(options.json) if options.json and options.json.exists() else []
    rows += asyncio.run(measure_all(options.cache.resolve(), options.only))
    print(make_table(rows, read_rows(options.before) if options.before else ()))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def read_rows(file: Path) -> list[Costs]:
    """The rounds in a file of this bench."""
    rows = [Costs(**row) for row in json.loads(file.read_text("utf-8"))]
    for row in rows:
        row.phases = {phase: Cpu(**cpu) for phase, cpu in asdict(row)["phases"].items()}
    return rows


class Project:
    """The collectors of a project, with one process that reads archives, over the sandbox of one package at a time."""

    def __init__(self, engine: HttpEngine, indexes: ConfiguredIndexes, home: Path) -> None:
        settings = read_settings(home=home, sources=(PackageCollector.name, SourceCollector.name))
        project = ProjectCollectors(settings, SystemClock(), engine, self, indexes, asks_osv=False)
        self.box: Sandbox | None = None
        self.close = project.close
        [self.index], [self.source] = project.collectors, project.followers

    async def installed(self, target: Target) -> InstalledTree | Absent:
        assert self.box is not None
        return await self.box.installed(target)


async def measure_all(cache: Path, names: Sequence[str]) -> list[Costs]:
    installer.POLL = POLL
    clock, rows = PhaseClock(), []
    entries = {name_of(entry): entry for entry in declared()}
    engine = HttpEngine(user_agent="Hallmark/bench", guard=AddressGuard())
    shared = await opened(cache, MovableClock())
    async with AsyncExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        project = Project(engine, shared.indexes, folder)
        held.push_async_callback(project.close)
        for number, name in enumerate((*FIRST, *names)):
            box, movable = await held.enter_async_context(fresh(shared, clock.begin))
            project.box = box
            row = await measure(box, movable, clock, project, entries[name], folder / f"alone{number}")
            if name not in FIRST:
                rows.append(row)
                print(row, flush=True)
    return rows


async def measure(
    box: Sandbox, movable: MovableClock, clock: PhaseClock, project: Project, entry: Mapping[str, Any], alone: Path
) -> Costs:
    """One round of one package, which its package manager installs into the folder `alone`."""
    row, target = Costs(package=name_of(entry)), target_of(entry)
    clock.take()
    found = await box.prepare(target)
    row.phases.update(split_installation(clock.take()))
    if isinstance(found, Absent):
        row.outcome = found.reason.value
        return row
    server, starts = Server(ref=target.identifier, name=target.identifier, targets=(target,)), []
    nothing = Dossier(server=server, as_of=datetime.now(UTC))
    for depth in (CORE, FULL):
        records = await make_prober(box, clock, depth).collect(server, nothing)
        phases = clock.take()
        begun = [cpu for phase, cpu in phases if phase == START]
        row.phases[f"{depth} probe"] = add(cpu for phase, cpu in phases if phase != START)
        row.starts[depth] = len(begun)
        starts += begun
    row.phases[EACH_START] = Cpu(*(statistics.fmean(part) for part in zip(*map(astuple, starts), strict=True)))
    row.outcome = name_outcome(records)
    clock.begin("read index")
    records += await project.index.collect(server, nothing)
    clock.begin("read source")
    records += await project.source.follow(make_dossier(nothing, records), nothing)
    clock.begin("score")
    for deriver in build_derivers(no_approval):
        records += deriver.derive(make_dossier(nothing, records), nothing, nothing.as_of)
    _, errors = score_dossiers([make_dossier(nothing, records)])
    assert not errors, errors
    clock.begin(ALONE)
    await asyncio.to_thread(install_alone, target.type, f"{found.name}{PINNED[target.type]}{found.version}", alone)
    row.phases.update(clock.take())
    movable.ahead += timedelta(days=1, minutes=1)
    assert await box.identify(target) is not None
    row.phases["unchanged"] = add(cpu for _, cpu in clock.take())
    return row


def make_prober(box: Sandbox, clock: PhaseClock, depth: str) -> ProtocolCollector:
    """A collector as in a run."""
    engine = HttpEngine(user_agent="Hallmark/bench", guard=AddressGuard())
    launcher = StartWatch(box, clock)
    return ProtocolCollector(engine, launcher, HostRateLimiter(), lambda: datetime.now(UTC), depth=depth)


def split_installation(shown: Sequence[tuple[str, Cpu]]) -> dict[str, Cpu]:
    """The phases of an installation, from what the sandbox showed: `unpacking` too while more may become known."""
    costs, phases = [cpu for _, cpu in shown], [phase for phase, _ in shown]
    first = next((at for at, phase in enumerate(phases) if phase not in {"", "resolving"}), len(phases))
    last = max((at + 1 for at, phase in enumerate(phases) if phase.startswith("downloading")), default=first)
    return {"resolve": add(costs[:first]), "download": add(costs[first:last]), "unpack": add(costs[last:])}


def make_dossier(nothing: Dossier, records: Sequence[Record]) -> Dossier:
    return replace(nothing, records={record.kind: record for record in records})


def name_outcome(records: Sequence[Record]) -> str:
    [content] = [record.content for record in records if record.kind == listing.KIND]
    return "listed" if isinstance(content, Observed) else content.reason.value


def install_alone(ecosystem: TargetType, wanted: str, folder: Path) -> None:
    """Install with the package manager alone, with an empty cache, into an empty folder."""
    if ecosystem is TargetType.NPM:
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", f"{folder}/cache"]
        command += ["--prefix", f"{folder}/tree", wanted]
    else:
        command = ["uv", "pip", "install", "--only-binary", ":all:", "--compile-bytecode"]
        command += ["--cache-dir", f"{folder}/cache", "--target", f"{folder}/tree", wanted]
    subprocess.run(command, check=True, capture_output=True, env=os.environ)


def count_together() -> Path:
    """Move this process into a control group of its own; the file with its nanoseconds, killed processes included."""
    group = Path("/sys/fs/cgroup/cpuacct") / f"hallmark-bench-{os.getpid()}"
    group.mkdir()
    (group / "cgroup.procs").write_text(str(os.getpid()))
    return group / "cpuacct.usage"


def make_table(rows: Sequence[Costs], before: Sequence[Costs] = ()) -> str:
    """The phases by ecosystem, as `ours+started`, with the number of starts of a probe."""
    groups = {
        f"{name} {when}".strip(): [row for row in some if row.package.startswith(kind) and row.starts]
        for kind, name in (("npm", "npm"), ("pypi", "Python"))
        for when, some in (("before", before), ("", rows))
    }
    shown = {name: some for name, some in groups.items() if some}
    lines = [f"||{'|'.join(shown)}|", f"|---|{'--:|' * len(shown)}"]
    lines += [f"|{phase}|{'|'.join(format_cell(some, phase) for some in shown.values())}|" for phase in PHASES]
    return "\n".join(lines)


def format_cell(rows: Sequence[Costs], phase: str) -> str:
    """The mean over packages of the medians over rounds."""
    rounds: dict[str, list[Cpu]] = {}
    for row in rows:
        if (cpu := find_cost(row, phase)) is not None:
            rounds.setdefault(row.package, []).append(cpu)
    if not rounds:
        return "–"
    ours, started = (
        statistics.fmean(statistics.median(getattr(cpu, part) for cpu in some) for some in rounds.values())
        for part in ("ours", "started")
    )
    starts = [row.starts[depth] for row in rows if (depth := phase.removesuffix(" probe")) in row.starts]
    count = f" ({statistics.fmean(starts):.1f})" if starts else ""
    return f"{ours:.2f}+{max(started, 0.0):.2f}{count}"


def find_cost(row: Costs, phase: str) -> Cpu | None:
    """The CPU of a phase; None if it was not measured."""
    if phase != FIRST_VISIT:
        return row.phases.get(phase)
    return add([*(row.phases[each] for each in VISIT), *[row.phases[EACH_START]] * row.starts[FULL]])


def add(costs: Iterable[Cpu]) -> Cpu:
    return sum(costs, Cpu())


if __name__ == "__main__":
    main()
