"""The cost of publishing a run: `python -m bench.publication [--servers 4000] [--json FILE]`.

Copies of the recorded servers under all versions of all rubrics in a SQLite database, published in parts by this
process. What does not depend on a part, the join at the end, is measured by itself.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from evidence.garbage import collect_garbage_rarely
from evidence.model import Dossier, Run, Server, ServerRef, Status, Trigger
from evidence.store import Store, StoredScorecard, open_store
from publish.publication import manifest as snapshot
from publish.publication.part_writer import PART_SIZE, PartWriter, join_parts
from publish.views.public_servers import read_public_servers
from tests.dossiers import AS_OF, captures
from workers.stages import scorecards

RUN = Run(id="bench", trigger=Trigger.LOCAL, as_of=AS_OF, pins={"commit": "bench", "source": "bench"})
CHUNK = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=4_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    collect_garbage_rarely()
    result = measure(options.servers)
    for name, figure in result.items():
        print(name, figure)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(servers: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/hallmark.db")
        store.migrate()
        _fill(store, servers)
        list(read_public_servers(store, RUN.id, servers=store.list_planned_servers(RUN.id)[:20]))  # loads the rules
        store.publication.begin(RUN.id, PART_SIZE, RUN.as_of)
        began = time.process_time()
        writer = PartWriter(store, RUN)
        while (part := store.publication.lease(RUN.id, ttl=timedelta(minutes=3), now=AS_OF)) is not None:
            writer.write(part)
        written = time.process_time()
        front = join_parts(store, RUN)
        snapshot.make_manifest(store, RUN.id)
        store.publication.complete_listing(store.publication.find_edition(RUN.id) or 0, front)
        ended = time.process_time()
        store.close()
    return {
        "milliseconds of CPU a server": round(1000 * (written - began) / servers, 2),
        "microseconds of CPU a server to join the parts": round(1e6 * (ended - written) / servers),
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


if __name__ == "__main__":
    main()
