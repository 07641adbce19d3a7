"""Slow and crashing servers must not delay others: `python -m bench.tail [--servers 3000]`.

A nightly run over simulated remotes, and the same run with three disturbances: a host of 1,279 servers, of which a
rotating share is scheduled; servers whose answers take just under the timeout; and a server that crashes every worker
process that collects it. Printed are the times at which shares of all other servers were collected and scored.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import psycopg

from bench.night import FIRST, POLL_SECONDS
from bench.simulation import network
from bench.simulation.deployment import Deployment, Plan
from bench.simulation.population import Population
from crawler.identity import target_ref
from evidence.model import Target, TargetType, server_id
from evidence.store import RunState, Stage, open_store

SHARES: Final = (50, 90, 99, 100)
RUN: Final = f"{FIRST:%Y%m%d}T030000Z-nightly"
PassedStage: TypeAlias = tuple[str, str, datetime]
"""A server's name, a stage, and when it had passed it."""

DEADLY: Final = "tests.functional.deadly"


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="hallmark-tail-") as name:
        folder = Path(name)
        if not network.is_inside():
            sys.exit(network.enter(folder, "bench.tail"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        found = {}
        for what in ("without", "with"):
            (folder / what).mkdir()
            found[what] = night(_population(options, nuisances=what == "with"), options, folder / what)
            print(what, json.dumps(found[what]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def night(population: Population, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """One night to its publication; seconds since its plan."""
    loner = population.remotes[-1].url("https") if population.loner else ""
    changes = {
        "HALLMARK_HOST_WINDOW": str(options.window * options.pace),
        "HALLMARK_LEASE_TTL": str(180 * options.pace),
        "HALLMARK_TAIL_WAIT": str(options.deadline),
        "DEADLY_SERVER": server_id(target_ref(Target(type=TargetType.STREAMABLE_HTTP, identifier=loner)))
        if loner
        else "",
    }
    plan = Plan(
        population=population,
        workers=options.workers,
        gap=0.6 * options.pace,
        changes=changes | dict(change.split("=", 1) for change in options.set),
        app=DEADLY,
    )
    with Deployment(plan, folder) as deployment:
        load = os.getloadavg()[0]
        deployment.begin(FIRST.isoformat())
        ends = time.monotonic() + options.deadline
        passed: list[PassedStage] = []
        with closing(open_store(deployment.url)) as store:
            store.migrate()
            while (row := store.find_run(RUN)) is None or row.state is not RunState.PUBLISHED:
                if time.monotonic() > ends:
                    raise SystemExit(f"not published within {options.deadline:.0f} s\n{deployment.tail_logs()}")
                # Publication drops what is read here, after it was complete for as long as publishing takes.
                passed = max(passed, read_passed_stages(deployment.url), key=len)
                time.sleep(4 * POLL_SECONDS)
            assert row.planned_at is not None
            carried = len(store.list_carried_servers(RUN))
        return {
            "load": [round(load, 1), round(os.getloadavg()[0], 1)],
            "carried": carried,
            "others": reached(passed, row.planned_at, population, others=True),
            "nuisances": reached(passed, row.planned_at, population, others=False),
            "quarantined": quarantined(deployment.url),
        }


def read_passed_stages(url: str) -> list[PassedStage]:
    """What has passed which stage, and when, without servers that were not scheduled."""
    query = (
        "SELECT server.name, run_item.stage, run_item.done_at FROM run_item JOIN run ON run.key = run_item.run_key"
        " JOIN server ON server.key = run_item.server_key WHERE run.id = %s AND NOT carried AND done_at IS NOT NULL"
    )
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return connection.execute(query, [RUN]).fetchall()


def reached(rows: Sequence[PassedStage], since: datetime, population: Population, *, others: bool) -> dict[str, float]:
    """When shares of some servers had passed a stage."""
    found: dict[str, float] = {}
    for stage in (Stage.COLLECT, Stage.SCORE):
        times = sorted(
            (at - since).total_seconds()
            for name, passed, at in rows
            if passed == stage and (int(name.rpartition("-")[2]) < population.size) is others
        )
        found[f"{stage.value} of"] = len(times)
        for share in SHARES if times else ():
            found[f"{stage.value} {share} %"] = round(times[max(0, -(-len(times) * share // 100) - 1)], 1)
    return found


def quarantined(url: str) -> int:
    """Number of servers in quarantine because they crashed workers."""
    with closing(open_store(url)) as store:
        found = store.read_absences(RUN, "listing").values()
    return sum(why.reason.value == "quarantined" for why in found)


def _population(options: argparse.Namespace, *, nuisances: bool) -> Population:
    size = Population(options.servers, options.seed, options.largest, options.pace)
    if not nuisances:
        return size
    return Population(
        size.size, size.seed, size.largest, size.pace, crowd=options.crowd, sluggish=options.sluggish, loner=True
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=3_000, help="the others")
    parser.add_argument("--crowd", type=int, default=1_279, help="servers of the one host")
    parser.add_argument("--sluggish", type=int, default=30, help="servers that answer just in time, again and again")
    parser.add_argument("--window", type=float, default=600.0, help="seconds that a night has for one host")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=5, help="most servers of any other host")
    parser.add_argument("--pace", type=float, default=0.1, help="every time is multiplied with it")
    parser.add_argument("--set", action="append", default=[], metavar="HALLMARK_X=VALUE")
    parser.add_argument("--deadline", type=float, default=1_500.0)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
