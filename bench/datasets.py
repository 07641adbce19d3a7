"""The cost of datasets: `python -m bench.datasets [--servers 1000] [--runs 30] [--processes 2] [--database X]`.

Copies of the recorded servers under all versions of all rubrics in SQLite or PostgreSQL, written as a snapshot and
verified, each in a process of its own. CPU is that of all processes together, PostgreSQL's apart; memory is the peak
of the largest one that writes or reads, and of the largest of those that it starts. With `--runs` the same servers
were in so many nights, of which the last is written.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from itertools import islice
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from sqlalchemy import text

from bench.publication import copy_of, ref_of
from bench.simulation.metering import Meter
from bench.site import database
from bench.site_load.filling import vacuum
from evidence.garbage import collect_garbage_rarely
from evidence.model import Dossier, Run, Trigger
from evidence.store import RunState, Store, StoredScorecard, open_store
from evidence.store.database import Database
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.rows.export_workers import RowExporter
from publish.datasets.verification.verify import verify_snapshot
from scoring.engine import catalogue
from tests.dossiers import AS_OF, captures
from workers.stages import scorecards

RUN = Run(id="bench", trigger=Trigger.NIGHTLY, as_of=AS_OF, pins={**dict(catalogue.pinned_versions()), "code": "bench"})
CHUNK = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="sqlite")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, roots = database(stack, options.database, folder)
        result = measure(url, Meter({"database": roots}), options, folder / "snapshot")
    for name, figures in result.items():
        print(name, figures)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(url: str, meter: Meter, options: argparse.Namespace, place: Path) -> dict[str, Any]:
    """Fill the database, write the snapshot, verify it; figures of each."""
    began = time.monotonic()
    fill(url, options.servers)
    for number in range(1, options.runs):
        _copy(url, replace(RUN, id=f"before-{number:03}", as_of=AS_OF - timedelta(days=number)))
    vacuum(url)
    print(f"filled in {time.monotonic() - began:.0f} s", flush=True)
    wrote = _of_each(options.servers, meter, _export, url, place, options.processes)
    print("export", wrote, flush=True)
    sizes = {path.name: path.stat().st_size for path in place.iterdir()}
    checked = _of_each(options.servers, meter, _verify, place, options.processes)
    return {
        "export": wrote,
        "verify": checked,
        "megabytes": {"all files": round(sum(sizes.values()) / 1e6, 1)}
        | {name: round(size / 1e6, 1) for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:6]},
    }


def _of_each(servers: int, meter: Meter, work: Callable[..., None], *what: Any) -> dict[str, float]:
    meter.sample()
    before = meter.seconds.get("database", 0.0)
    figures = _measure_in_process(work, *what)
    meter.sample()
    return {
        **figures,
        "milliseconds of CPU a server": round(1000 * figures["CPU seconds"] / servers, 1),
        "of the database": round(1000 * (meter.seconds.get("database", 0.0) - before) / servers, 1),
    }


def fill(url: str, number: int) -> None:
    """A published run of so many copies, written in parts."""
    store = open_store(url)
    store.migrate()
    store.add_run(RUN)
    copies = _copies(number)
    ids: list[str] = []
    while some := list(islice(copies, CHUNK)):
        done = [each.server.id for each, _ in some]
        refs = [(each.server, ref_of(each.server)) for each, _ in some]
        store.put_registry_page(RUN.id, "bench", refs, cursor=None, done=False, at=AS_OF)
        store.plan_run(RUN.id, done, AS_OF)
        _put(store, some, done)
        ids += done
    store.set_run_state(RUN.id, RunState.PUBLISHED, AS_OF)
    store.close()


def _copy(url: str, run: Run) -> None:
    """An earlier night with the same servers."""
    store, database = open_store(url), Database(url)
    store.add_run(run)
    with database.writing() as connection:
        key = "SELECT key FROM run WHERE id"
        for table, columns in (
            ("record_set", "server_key, shape_key, blobs, notes"),
            ("scoring", "server_key, shape_key, blobs, receipts"),
            ("run_item", "stage, server_key, attempts, done_at"),
        ):
            rows = f"SELECT ({key} = :run), {columns} FROM {table} WHERE run_key = ({key} = :like)"
            connection.execute(
                text(f"INSERT INTO {table} (run_key, {columns}) {rows}"), {"run": run.id, "like": RUN.id}
            )
    store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)
    store.close()
    database.close()


def _put(store: Store, some: Sequence[tuple[Dossier, list[StoredScorecard]]], done: list[str]) -> None:
    records = [record for each, _ in some for record in each.records.values()]
    store.put_records(RUN.id, records, done=done, at=AS_OF)
    store.put_scorecards(RUN.id, [card for _, cards in some for card in cards], done=done, at=AS_OF)


def _copies(number: int) -> Iterator[tuple[Dossier, list[StoredScorecard]]]:
    recorded = [(each, scorecards.score_dossier(each)) for each in captures().values()]
    for at in range(number):
        yield copy_of(*recorded[at % len(recorded)], at)


def _export(url: str, place: Path, processes: int) -> None:
    store = open_store(url)
    made = export_snapshot(store, ExportOrder(run=RUN.id), place, RowExporter(url, processes))
    store.close()
    assert made.counts["servers"]


def _verify(place: Path, processes: int) -> None:
    report = verify_snapshot(place, processes=processes)
    assert not report.problems, report.problems[:3]


def _measure_in_process(work: Callable[..., None], *what: Any) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    process = context.Process(target=_send_figures, args=(results, work, what))
    process.start()
    process.join()
    found: dict[str, float] = results.get()
    return found


def _send_figures(results: Any, work: Callable[..., None], what: Sequence[Any]) -> None:
    began = time.monotonic()
    collect_garbage_rarely()  # as every command does
    work(*what)
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # noqa: SLF001  CPU of a process counts once it ended
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    results.put(
        {
            "seconds": round(time.monotonic() - began, 1),
            "CPU seconds": round(own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime, 1),
            "peak megabytes": round(own.ru_maxrss / 1024),
            "peak megabytes of one it started": round(others.ru_maxrss / 1024),
        }
    )


if __name__ == "__main__":
    main()
