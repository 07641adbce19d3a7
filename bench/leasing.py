"""The cost of leasing work as a run grows: `python -m bench.leasing [--open 10000 100000 1000000]`.

A run with so many open servers on a real PostgreSQL, as planned: each waits in `probe` and `collect`, and to be scored
when it is collected. Measured are the calls of one worker, in milliseconds, the quickest of several.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evidence.model import Run, Server, ServerRef, Status, Trigger
from evidence.store import Stage, Store, open_store
from tests.servers.postgres import postgres_server

AS_OF = datetime(2026, 11, 21, 3, tzinfo=UTC)
TTL = timedelta(minutes=3)
CHUNK = 200
TIMES = 7
HELD = 1_000
STEP = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="open servers")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    figures = {}
    with postgres_server() as server:
        for number in options.open:
            store = open_store(server.create_database())
            store.migrate()
            figures[number] = measure(store, number)
            store.close()
            print(number, json.dumps(figures[number]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def measure(store: Store, number: int) -> dict[str, float]:
    """Milliseconds of each call on a run of so many servers."""
    run = Run(id="20261121T030000Z-nightly", trigger=Trigger.NIGHTLY, as_of=AS_OF, pins={})
    store.add_run(run)
    servers = _servers(store, run.id, number)
    now = store.read_database_time(AS_OF)
    began = time.perf_counter()
    first = dict.fromkeys(servers, Stage.PROBE)
    # As a night is scheduled: half of the servers are not yet due.
    starts = {server: now + timedelta(hours=8) * (place % 2) for place, server in enumerate(servers)}
    store.plan_run(run.id, servers, now, first=first, starts=starts)
    found = {"plan a server": (time.perf_counter() - began) * 1000 / number}
    held = [one for _ in range(HELD // CHUNK) for one in _lease(store, run.id, Stage.PROBE, "holder")]
    assert len(held) == HELD
    others: list[str] = []
    found["lease to probe"] = _quickest(lambda: others.extend(_lease(store, run.id, Stage.PROBE, "other")))
    found["lease to score, nothing collected"] = _quickest(lambda: _lease(store, run.id, Stage.SCORE, "scorer"))
    began = time.perf_counter()
    store.put_records(run.id, [], done=held, at=now, stage=Stage.PROBE, onward={})
    found["pass a server"] = (time.perf_counter() - began) * 1000 / HELD
    found["lease to score"] = _quickest(lambda: _lease(store, run.id, Stage.SCORE, "scorer"), times=HELD // CHUNK)
    found["renew"] = _quickest(lambda: store.renew_leases(run.id, Stage.PROBE, "other", others, ttl=TTL, now=now))
    found["reap"] = _quickest(lambda: store.release_expired_leases(run.id, now))
    found["due"] = _quickest(lambda: store.count_due_servers(run.id, now))
    found["release"] = _quickest(lambda: store.release_leases(run.id, Stage.PROBE, "other"), times=1)
    return {name: round(value, 3) for name, value in found.items()}


def _servers(store: Store, run: str, number: int) -> list[str]:
    ids: list[str] = []
    for start in range(0, number, STEP):
        some = [
            Server(ref=f"https://{place}.example/mcp", name=f"io.example/{place}")
            for place in range(start, min(number, start + STEP))
        ]
        page = [(server, _listed(server)) for server in some]
        store.put_registry_page(run, "official", page, cursor=None, done=False, at=AS_OF)
        ids += [server.id for server in some]
    return ids


def _listed(server: Server) -> ServerRef:
    return ServerRef(registry="official", name=server.name, version="1.0.0", status=Status.ACTIVE, entry=b"{}")


def _lease(store: Store, run: str, stage: Stage, worker: str) -> list[str]:
    return list(store.lease_servers(run, stage, worker, limit=CHUNK, ttl=TTL, now=AS_OF))


def _quickest(call: Callable[[], object], times: int = TIMES) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return min(taken)


if __name__ == "__main__":
    main()
