"""Encodes the rows of a run for every table, batch by batch, in this process or in several."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Final, Protocol

from msgspec import Struct

from evidence.model import Absent, Run, ServerId
from evidence.store import RunRow, Store, UnknownRun, open_store
from publish.datasets.format.columns import Columns, join_columns
from publish.datasets.format.methodology import is_current_code
from publish.datasets.format.table_files import PackedBlock, encode_columns, pack_block
from publish.datasets.format.tables import SERVERS, TABLES
from publish.datasets.rows.rule_outcomes import assess_publicly
from publish.datasets.rows.server_rows import make_server_columns
from publish.datasets.snapshot.source_counts import KindCounts, SourceCounts
from publish.publication.export_workers import read_worker_pages, write_pages
from publish.views.public_servers import BATCH_SIZE, PublicServer, read_public_servers

SERVERS_PER_WORKER: Final = 500
"""Servers for each process: its start costs as much as about a hundred servers."""


class ExportedBatch(Struct, frozen=True):
    """A batch of servers: encoded rows of every table, and source counts."""

    blocks: Mapping[str, PackedBlock]
    seen: SourceCounts

    @property
    def servers(self) -> int:
        return self.blocks[SERVERS.name].rows


class BatchSource(Protocol):
    """Gives the batches of a run in their order."""

    def pages(
        self, store: Store, run_id: str, *, comparable: bool, hidden: Collection[ServerId] = ()
    ) -> Iterator[ExportedBatch]:
        """The batches of a run without `hidden` servers; raise UnknownRun."""


class RowExporter(Struct, frozen=True):
    """Exports with up to `processes` processes, which read the store at `url`; with one, in this process."""

    url: str = ""
    processes: int = 1

    def pages(
        self, store: Store, run_id: str, *, comparable: bool, hidden: Collection[ServerId] = ()
    ) -> Iterator[ExportedBatch]:
        """The batches of a run, which do not depend on the number of processes; raise UnknownRun.

        `hidden` servers are left out. Raise ExportWorkerFailed if a process fails.
        """
        row = _find_run(store, run_id)
        batches = split_batches(store.list_planned_servers(run_id), hidden)
        processes = min(self.processes, len(batches) * BATCH_SIZE // SERVERS_PER_WORKER) if self.url else 1
        if processes <= 1:
            return _pages(store, row, batches, comparable=comparable)
        order = {"url": self.url, "run": run_id, "comparable": comparable, "hidden": sorted(hidden), "of": processes}
        return read_worker_pages("publish.datasets", [{**order, "number": number} for number in range(processes)])


def export_batches(store: Store, run_id: str, batches: Iterable[Sequence[ServerId]]) -> Iterator[ExportedBatch]:
    """Encode some batches of `split_batches`, which do not depend on the others; raise UnknownRun."""
    return _pages(store, _find_run(store, run_id), batches, comparable=False)


def split_batches(servers: Collection[ServerId], hidden: Collection[ServerId]) -> list[Sequence[ServerId]]:
    """The servers of each batch, sorted, without `hidden` ones and without empty batches."""
    return [batch for batch in place_batches(servers, hidden) if batch]


def place_batches(servers: Collection[ServerId], hidden: Collection[ServerId]) -> list[Sequence[ServerId]]:
    """Sorted batches of all servers, in each of which the `hidden` ones are left out, so that no other one changes."""
    ordered, left_out = sorted(set(servers)), frozenset(hidden)
    return [
        [server for server in ordered[start : start + BATCH_SIZE] if server not in left_out]
        for start in range(0, len(ordered), BATCH_SIZE)
    ]


def _find_run(store: Store, run_id: str) -> RunRow:
    row = store.find_run(run_id)
    if row is None:
        raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
    return row


def _pages(
    store: Store, row: RunRow, batches: Iterable[Sequence[ServerId]], *, comparable: bool
) -> Iterator[ExportedBatch]:
    for batch in batches:
        servers = read_public_servers(store, row.run.id, until=row.reviews_until, servers=batch)
        yield _page(servers, row.run, comparable=comparable)


def _page(servers: Iterable[PublicServer], run: Run, *, comparable: bool) -> ExportedBatch:
    judged = is_current_code(run.pins)
    parts: dict[str, list[Columns]] = {table.name: [] for table in TABLES}
    seen = SourceCounts()
    for server in servers:
        _look(server, seen)
        assessment = assess_publicly(server.dossier) if judged else None
        for name, columns in make_server_columns(server, assessment, run.id).items():
            parts[name].append(columns)
    blocks = {
        table.name: pack_block(encode_columns(table, join_columns(parts.pop(table.name)), comparable=comparable))
        for table in TABLES
    }
    return ExportedBatch(blocks, seen)


def _look(server: PublicServer, seen: SourceCounts) -> None:
    seen.registries.update(server.dossier.server.seen_in)
    for kind, record in server.dossier.records.items():
        absent = isinstance(record.content, Absent)
        one = KindCounts(not absent, absent, record.observed_at, record.observed_at)
        seen.kinds.setdefault(kind, KindCounts()).add(one)


def serve_worker(order: IO[bytes], out: IO[bytes]) -> None:
    """The work of an export process: read one order, write its batches and an end mark."""
    options = json.loads(order.read())
    store = open_store(options["url"])
    try:
        row = _find_run(store, options["run"])
        servers = store.list_planned_servers(row.run.id)
        batches = islice(split_batches(servers, options["hidden"]), options["number"], None, options["of"])
        write_pages(_pages(store, row, batches, comparable=options["comparable"]), out)
    finally:
        store.close()
