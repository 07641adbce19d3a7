"""Re-tests on an idle fleet: `python -m bench.retests --retests 32 [--together 4] [--json FILE]`.

The simulation of `bench.night` (TLS, DNS, host gaps, production settings) is measured once by a nightly run. Then
re-tests are requested as the API does, by rows only, and beat admits them. Printed are the seconds from the request to
the result, and the number of requests of each re-test from the access log of the simulated servers.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.simulation import access_log, network
from bench.simulation.deployment import Deployment, Plan
from bench.simulation.population import Kind, Population
from evidence.model import ServerId
from evidence.store import RunState, Store, open_store
from workers.retests import retest_requests
from workers.retests.retest_requests import RetestAccepted
from workers.settings.environment import Settings, read_settings

CLOCK = datetime(2026, 11, 21, 12, tzinfo=UTC)
NIGHT = f"{CLOCK:%Y%m%d}T030000Z-nightly"
POLL_SECONDS = 0.1
DEADLINE_SECONDS = 1800.0


class WithRetests(Deployment):
    """A deployment with a worker for re-tests of so many processes, as infra/compose.yaml has one."""

    processes = 1

    def _pools(self) -> list[tuple[str, str, int]]:
        return [*super()._pools(), ("retester", "retest", self.processes)]


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="hallmark-retests-") as name:
        folder = Path(name)
        if not network.is_inside():
            command = [sys.executable, "-m", "bench.retests", *sys.argv[1:]]
            sys.exit(subprocess.run(network.command_inside(command, folder), check=False).returncode)
        resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        result = measure(options, folder)
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """One night, then the re-tests, and the fleet's access log of them."""
    population = Population(options.servers, options.seed)
    numbers = {remote.url("https"): remote.number for remote in population.remotes if remote.kind is Kind.OPEN}
    changes = {"HALLMARK_DEPTH": "full", "HALLMARK_INTEROP": "off", "HALLMARK_RETESTS_AT_ONCE": "100"}
    changes |= dict(change.split("=", 1) for change in options.set)
    WithRetests.processes = options.together
    with WithRetests(Plan(population=population, changes=changes), folder) as deployment:
        deployment.begin(CLOCK.isoformat())
        store = open_store(deployment.url)
        store.migrate()
        _wait_for_night(store, deployment)
        servers = [
            one for one in store.find_servers(store.list_planned_servers(NIGHT)) if one.targets[0].identifier in numbers
        ]
        since = time.monotonic()
        chosen = servers[: options.retests]
        found = _retest(store, [one.id for one in chosen], options.together, folder)
        deployment.end()
        deployment.close_world()
        requests = _requests(deployment, since)
        store.close()
    made = sorted(requests.get(numbers[one.targets[0].identifier], 0) for one in chosen)
    return {
        "servers": options.servers,
        "re-tests": len(found),
        "at the same time": options.together,
        "states": {state: [one["state"] for one in found].count(state) for state in {one["state"] for one in found}},
        "seconds": _shares([one["seconds"] for one in found]),
        "seconds until admitted": _shares([one["admitted"] for one in found]),
        "requests": {"median": made[len(made) // 2], "most": made[-1]},
        "receipts that changed": sum(one["changed"] for one in found),
        "crowded hosts": len(access_log.check(access_log.read(deployment.logs), 0.6).crowded),
    }


def _wait_for_night(store: Store, deployment: Deployment) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while (row := store.find_run(NIGHT)) is None or row.state is not RunState.PUBLISHED:
        if time.monotonic() > deadline:
            raise SystemExit(f"the night was not published\n{deployment.tail_logs()}")
        time.sleep(1)


def _retest(store: Store, servers: Sequence[ServerId], together: int, folder: Path) -> list[dict[str, Any]]:
    """Request the re-tests one after the other, a limited number at a time; return their outcomes."""
    settings = read_settings(home=folder, retests_per_client=10_000)
    waiting, under_way, done = list(servers), dict[str, float](), list[dict[str, Any]]()
    while waiting or under_way:
        while waiting and len(under_way) < together:
            who = retest_requests.identify_asker(settings, "bench")
            asked = retest_requests.request_retest(store, settings, datetime.now(UTC), waiting.pop(0), who)
            assert isinstance(asked, RetestAccepted), asked
            under_way[asked.retest.id] = time.monotonic()
        time.sleep(POLL_SECONDS)
        for retest, began in list(under_way.items()):
            found = store.retests.find_retest(retest)
            assert found is not None
            if not found.is_open:
                del under_way[retest]
                done.append(_outcome(store, settings, retest, time.monotonic() - began))
    return done


def _outcome(store: Store, settings: Settings, retest: str, seconds: float) -> dict[str, Any]:
    report = retest_requests.report_retest(store, settings, retest)
    assert report is not None
    one = report.retest
    admitted = (one.admitted_at - one.asked_at).total_seconds() if one.admitted_at else 0.0
    changed = any(each.changed for each in report.comparisons)
    return {"state": one.state.value, "seconds": seconds, "admitted": admitted, "changed": changed}


def _requests(deployment: Deployment, since: float) -> dict[int, int]:
    """Requests that each server got after a moment."""
    counts: dict[int, int] = {}
    for access in access_log.read(deployment.logs):
        if access.start >= since and access.number >= 0:
            counts[access.number] = counts.get(access.number, 0) + 1
    return counts


def _shares(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    places = {"p50": 0.5, "p95": 0.95, "most": 1.0}
    return {name: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) for name, share in places.items()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=80)
    parser.add_argument("--retests", type=int, default=32)
    parser.add_argument("--together", type=int, default=1, help="how many are under way at the same time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the product")
    parser.add_argument("--json", type=Path, help="also write the result here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
