"""The cost of publishing a run: `python -m bench.publication [--servers 4000] [--processes 1 2] [--json FILE]`.

Copies of the recorded servers under all versions of all rubrics in a SQLite database, printed into a manifest by one
process and by several. CPU is that of all processes together, their start included.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evidence.model import Dossier, Run, Server, ServerRef, Status, Trigger
from evidence.store import Store, StoredScorecard, open_store
from publish.publication import listing_writer
from publish.publication import manifest as snapshot
from publish.publication.export_workers import RunExporter
from tests.dossiers import AS_OF, captures
from workers.stages import scorecards

RUN = Run(id="bench", trigger=Trigger.LOCAL, as_of=AS_OF, pins={"commit": "bench", "source": "bench"})
CHUNK = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=4_000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--listing", action="store_true", help="put the run in the lists as well, as publication does")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = measure(options.servers, options.processes, listing=options.listing)
    for name, figures in result.items():
        print(name, figures)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(servers: int, processes: Sequence[int], *, listing: bool = False) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/hallmark.db"
        store = open_store(url)
        store.migrate()
        _fill(store, servers)
        snapshot.make_manifest(store, RUN.id)  # what is loaded once is not in the figures
        found = {
            f"{number} processes": _printed(store, RunExporter(url, number, listing=listing), servers)
            for number in processes
        }
        store.close()
    return found


def _printed(store: Store, press: RunExporter, servers: int) -> dict[str, float]:
    used, began = _cpu(), time.monotonic()
    printed = listing_writer.export_and_list(RUN, press.export) if press.listing else press.export
    manifest = json.loads(snapshot.make_manifest(store, RUN.id, printed))
    seconds, used = time.monotonic() - began, _cpu() - used
    return {
        "milliseconds of CPU a server": round(1000 * used / servers, 2),
        "seconds": round(seconds, 1),
        "bytes a server": round(sum(file["bytes"] for file in manifest["files"].values()) / servers),
    }


def _fill(store: Store, number: int) -> None:
    recorded = [(each, scorecards.score_dossier(each)) for each in captures().values()]
    copies = [copy_of(*recorded[at % len(recorded)], at) for at in range(number)]
    ids = [each.server.id for each, _ in copies]
    store.add_run(RUN)
    refs = [(each.server, ref_of(each.server)) for each, _ in copies]
    store.put_registry_page(RUN.id, "bench", refs, cursor=None, done=True, at=AS_OF)
    store.plan_run(RUN.id, ids, AS_OF)
    for start in range(0, number, CHUNK):
        some, done = copies[start : start + CHUNK], ids[start : start + CHUNK]
        records = [record for each, _ in some for record in each.records.values()]
        store.put_records(RUN.id, records, done=done, at=AS_OF)
        store.put_scorecards(RUN.id, [card for _, cards in some for card in cards], done=done, at=AS_OF)


def copy_of(dossier: Dossier, cards: Sequence[StoredScorecard], number: int) -> tuple[Dossier, list[StoredScorecard]]:
    server = replace(dossier.server, ref=f"npm:copy-{number}")
    records = {kind: replace(record, server=server.id) for kind, record in dossier.records.items()}
    before, after = dossier.server.id.encode(), server.id.encode()
    renamed = [replace(card, server=server.id, body=card.body.replace(before, after)) for card in cards]
    return replace(dossier, server=server, records=records), renamed


def ref_of(server: Server) -> ServerRef:
    return ServerRef(registry="bench", name=server.ref, version="1.0.0", status=Status.ACTIVE, entry=b"{}")


def _cpu() -> float:
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, _BOTH))


_BOTH = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


if __name__ == "__main__":
    main()
