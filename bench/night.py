"""A whole nightly run with Celery over simulated remotes: `python -m bench.night --servers 1000 [--json FILE]`.

Simulated servers, registry and DNS are in a separate network (bubblewrap). PostgreSQL (durable) and Valkey are real,
and Hallmark runs with production settings: TLS verification, address guard, host gaps and default timeouts. `--pace
0.1` scales all times, including gaps and timeouts. The first run has no earlier evidence; later runs probe the same
servers a day later, of which the `--changed` share has changed a tool. CPU per server leaves out the start of the
processes. At the end the access log of the simulated servers is checked for concurrent or too fast requests.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from bench.simulation import access_log, network
from bench.simulation.deployment import Deployment, Plan
from bench.simulation.metering import Meter
from bench.simulation.population import Population, kinds
from evidence.kinds import listing
from evidence.model import Reason
from evidence.store import NotMigrated, RunProgress, RunState, Stage, Store, StoreUnavailable, open_store
from publish.views.runs import OWN_FAILURES

FIRST = datetime(2026, 11, 21, 12, tzinfo=UTC)
POLL_SECONDS = 0.5
SHARES = (50, 90, 99, 100)
_WORLD = frozenset({"fleet", "registry"})


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="hallmark-night-") as name:
        folder = Path(name)
        if not network.is_inside():
            sys.exit(network.enter(folder, "bench.night"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        result = measure(options, folder)
    show(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if result["access"]["crowded"]:
        sys.exit("a host was crowded")
    if any(one["own failures"] for one in result["nights"]):
        sys.exit("servers were not measured because of us: the figures are not those of whole nights")


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The nights one after the other on one database, and the fleet's access log of them."""
    population = Population(options.servers, options.seed, options.largest, options.pace, changed=options.changed)
    plan = Plan(
        population=population,
        workers=options.workers,
        fleets=options.fleets,
        secure=not options.plain,
        gap=options.gap * options.pace,
        together=options.together,
        changes=dict(change.split("=", 1) for change in options.set),
    )
    with Deployment(plan, folder) as deployment:
        nights = []
        for number in range(options.nights):
            nights.append(night(deployment, number, options))
            print(json.dumps(nights[-1]), flush=True)  # keeps the results when a later night is aborted
        deployment.close_world()
        accesses = access_log.read(deployment.logs)
        verdict = access_log.check(accesses, plan.gap, access_log.read_stalls(deployment.logs))
    return {
        "servers": options.servers,
        "hosts": len({remote.host for remote in population.remotes}),
        "kinds": kinds(population.remotes),
        "workers": options.workers,
        "gap": plan.gap,
        "nights": nights,
        "access": {
            "requests": verdict.requests,
            "requests per server and night": round(verdict.requests / options.servers / options.nights, 2),
            "hosts": verdict.hosts,
            "neighbours": verdict.neighbours,
            "closest seconds": verdict.closest,
            "given up while the fleet stood still": verdict.seen_late,
            "crowded": [f"{one.first} {one.second}" for one in verdict.crowded[:20]],
        },
    }


def night(deployment: Deployment, number: int, options: argparse.Namespace) -> dict[str, Any]:
    """One night from the start of beat to its publication."""
    if number:
        deployment.begin_day()
    clock = FIRST + timedelta(days=number)
    run_id = f"{clock:%Y%m%d}T030000Z-nightly"
    before = sizes(deployment.url) if number else {}
    load = os.getloadavg()[0]
    began, wall = time.monotonic(), datetime.now(UTC)
    meter = deployment.begin(clock.isoformat())
    reached, spent = _follow(deployment, run_id, meter, began, options)
    after = sizes(deployment.url)
    with _opened(deployment.url) as store:
        row, progress = store.find_run(run_id), store.read_progress(run_id)
    assert row is not None and row.planned_at is not None
    meter.sample()
    deployment.end()
    return {
        "load before": round(load, 1),
        "load after": round(os.getloadavg()[0], 1),
        "seconds until": {"planned": round((row.planned_at - wall).total_seconds(), 1), **reached},
        "cpu by phase": spent,
        "cpu ms a server": _cpu_per_server(spent, options.servers),
        "peak MiB of a process": meter.peak_mib(),
        "planned": progress.planned,
        "scored": progress.done[Stage.SCORE],
        "absent listings": {
            reason: count for (kind, reason), count in sorted(progress.absent.items()) if kind == listing.KIND
        },
        "own failures": sum(count for absent, count in progress.absent.items() if _is_ours(*absent)),
        "looked up": deployment.looked_up(run_id),
        "records unlike the night before": count_changed_records(deployment.url, run_id),
        "bytes of a row": row_bytes(deployment.url, run_id),
        "tables": after,
        "growth": {
            table: [rows - before.get(table, [0, 0])[0], size - before.get(table, [0, 0])[1]]
            for table, (rows, size) in after.items()
        },
    }


def _is_ours(kind: str, reason: str) -> bool:
    """Whether a record is absent because of us: without the servers concerned, a night costs less."""
    return reason in OWN_FAILURES or (kind, reason) == (listing.KIND, Reason.NOT_COLLECTED)


def _follow(
    deployment: Deployment, run_id: str, meter: Meter, began: float, options: argparse.Namespace
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Seconds at which shares were reached until the run is published, and CPU seconds by phase."""
    reached: dict[str, float] = {}
    spent: dict[str, dict[str, float]] = {}
    spies: list[subprocess.Popen[bytes]] = []
    meter.sample()
    phase, base = "plan", dict(meter.seconds)
    store = open_store(deployment.url)  # once, since PostgreSQL pays some milliseconds for each connection
    while "published" not in reached:
        if time.monotonic() - began > options.deadline:
            raise SystemExit(f"not published within {options.deadline:.0f} s: {reached}\n{deployment.tail_logs()}")
        time.sleep(POLL_SECONDS)
        meter.sample()
        state, progress = _state(store, run_id)
        now = round(time.monotonic() - began, 1)
        for name, value in _milestones(state, progress):
            reached.setdefault(name, value if value is not None else now)
        next_phase = _phase(reached)
        if next_phase != phase:
            spent[phase] = {role: round(used - base.get(role, 0), 2) for role, used in meter.seconds.items()}
            base = dict(meter.seconds)
            _stop_spies(spies)
            spies = _start_profilers(deployment, options, next_phase)
            phase = next_phase
    _stop_spies(spies)
    store.close()
    spent[phase] = {role: round(used - base.get(role, 0), 2) for role, used in meter.seconds.items()}
    return reached, spent


def _cpu_per_server(spent: dict[str, dict[str, float]], servers: int) -> dict[str, float]:
    """Milliseconds of CPU a server by role and in all, after planning: the processes start meanwhile."""
    phases = [used for phase, used in spent.items() if phase != "plan"]
    found = {
        role: 1000 * sum(used.get(role, 0) for used in phases) / servers
        for role in sorted({role for used in phases for role in used})
    }
    ours = sum(value for role, value in found.items() if role not in _WORLD)
    return {role: round(value, 2) for role, value in {**found, "in all": ours}.items()}


def _milestones(state: RunState | None, progress: RunProgress | None) -> list[tuple[str, float | None]]:
    """The milestones reached so far, each with its time; None: now."""
    if progress is None or not progress.planned:
        return []
    found: list[tuple[str, float | None]] = [("collecting", None)]
    for stage in (Stage.COLLECT, Stage.SCORE):
        done = 100 * progress.done[stage] / progress.planned
        found += [(f"{stage.value} {share} %", None) for share in SHARES if done >= share]
    return [*found, ("published", None)] if state is RunState.PUBLISHED else found


def _phase(reached: dict[str, float]) -> str:
    if "score 100 %" in reached:
        return "publish"
    if "collect 100 %" in reached:
        return "score"
    return "tail" if "collect 99 %" in reached else "collect" if "collecting" in reached else "plan"


def _state(store: Store, run_id: str) -> tuple[RunState | None, RunProgress | None]:
    with suppress(StoreUnavailable, NotMigrated):
        row = store.find_run(run_id)
        return (row.state, store.read_progress(run_id)) if row is not None else (None, None)
    return None, None


class _opened:  # noqa: N801 - used as a statement
    """A store that is closed at the end of the `with` block."""

    def __init__(self, url: str) -> None:
        self._store = open_store(url)

    def __enter__(self) -> Store:
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()


def sizes(url: str) -> dict[str, list[int]]:
    """Rows and bytes of every table after a vacuum, indexes included."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("VACUUM FULL")
        names = connection.execute("SELECT relname::text FROM pg_stat_user_tables ORDER BY 1").fetchall()
        found = {}
        for (name,) in names:
            query = f'SELECT count(*), pg_total_relation_size(\'"{name}"\') FROM "{name}"'
            row = connection.execute(query.encode()).fetchone()
            assert row is not None
            found[name] = [int(row[0]), int(row[1])]
    return found


def count_changed_records(url: str, run_id: str) -> dict[str, int]:
    """Number of records of each kind whose content differs from that of the night before."""
    with _opened(url) as store:
        changes = store.read_changes(run_id, store.list_planned_servers(run_id)).values()
    return dict(sorted(Counter(kind for change in changes for kind in change.kinds).items()))


def row_bytes(url: str, run_id: str) -> dict[str, int]:
    """Average size of the rows that a published night keeps for a server, indexes left out."""
    found = {}
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        for table in ("record_set", "scoring"):
            query = (
                f"SELECT avg(pg_column_size({table}.*)) FROM {table} JOIN run ON run.key = run_key WHERE run.id = %s"
            )
            row = connection.execute(query.encode(), [run_id]).fetchone()
            found[table] = round(row[0]) if row and row[0] is not None else 0
    return found


def _start_profilers(deployment: Deployment, options: argparse.Namespace, phase: str) -> list[subprocess.Popen[bytes]]:
    """Attach a sampling profiler to every process of the pool, if one is given."""
    if options.py_spy is None:
        return []
    options.profiles.mkdir(parents=True, exist_ok=True)
    flags = ["--rate", "50", "--format", "raw", "--duration", "3600", "--nonblocking"]
    return [
        subprocess.Popen(
            [options.py_spy, "record", "--pid", str(pid), *flags, "--output", options.profiles / f"{phase}-{pid}.txt"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for pid in deployment.pool()
    ]


def _stop_spies(spies: list[subprocess.Popen[bytes]]) -> None:
    for spy in spies:
        spy.send_signal(signal.SIGINT)
    for spy in spies:
        spy.wait(60)


def show(result: dict[str, Any]) -> None:
    print(f"{result['servers']} servers on {result['hosts']} hosts, {result['workers']} working processes")
    for number, night_ in enumerate(result["nights"], 1):
        print(f"night {number}")
        for name, value in night_.items():
            if name not in {"tables", "growth"}:
                print(f"  {name}: {value}")
        print("  growth:")
        for table, (rows, size) in night_["growth"].items():
            if rows or size:
                print(f"    {table:24} {rows:>9,} rows {size:>13,} bytes {size / result['servers']:>9,.1f} a server")
    for name, value in result["access"].items():
        print(f"{name}: {value}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2, help="processes that probe and score")
    parser.add_argument("--together", action="store_true", help="one worker for all queues, as for a small machine")
    parser.add_argument("--fleets", type=int, default=1, help="processes that serve the world")
    parser.add_argument("--nights", type=int, default=2)
    parser.add_argument(
        "--changed", type=float, nargs="*", default=[], help="share of each later night, such as 0 0.05"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=20, help="most servers of one host; the registry has 1279")
    parser.add_argument("--pace", type=float, default=1.0, help="every time is multiplied with it")
    parser.add_argument("--gap", type=float, default=0.6)
    parser.add_argument("--plain", action="store_true", help="HTTP without TLS")
    parser.add_argument("--set", action="append", default=[], metavar="HALLMARK_X=VALUE")
    parser.add_argument("--deadline", type=float, default=3_600.0)
    parser.add_argument("--py-spy", help="the profiler's command")
    parser.add_argument("--profiles", type=Path, default=Path("profiles"))
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
