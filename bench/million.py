"""The cost of a night per server as the registry grows: `python -m bench.million [--servers 3000 30000 300000]`.

A real PostgreSQL holds so many made-up servers with the records, receipts and listing index of one published night;
bodies are those of fifty models, so bytes are without new bodies (`bench.history` has them). One server in forty is at
one host, whose window lets half of them take part. Measured are the next night's walk over unchanged entries, its whole
plan, leases, results and scores of `--sample` servers, a sweep, a status, the export of the first `--sample` servers of
the published night, parts of its dataset (joined with copies of them, at most 30,000 servers; without rule outcomes),
its listing index, pages of the list, and the publication of the whole next night. Of its parts those of `--sample`
servers are written; the others are copied inside the database from the published night.
Milliseconds per server (of pages, sweeps, status: each) are CPU of this process, CPU of PostgreSQL, and the clock's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from msgspec.structs import replace

from bench.publication import copy_of, ref_of
from bench.simulation.metering import Meter
from bench.site_load.filling import COMMON, FIRST, MODELS, Filled, list_nights, store_nights, vacuum
from evidence.model import Dossier, Run, Trigger
from evidence.store import ListingQuery, Stage, Store, StoredScorecard
from evidence.store.database import Database
from evidence.store.listing.published_edition import find_published_edition_key
from evidence.store.listing.ranks import BY_NAME, UNRANKED
from evidence.store.runs.publication_parts import PublicationPart
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.rows.export_parts import BATCHES_PER_PART, ExportPlan, PartFolder, plan_export
from publish.publication import run_export
from publish.publication.manifest import RUN_FILES
from publish.publication.part_writer import PartWriter
from publish.views.public_servers import BATCH_SIZE
from tests.dossiers import captures
from tests.servers.postgres import PostgresServer, postgres_server
from tests.workers.world import World, context
from workers import pipeline
from workers.context import Context
from workers.nightly import closing
from workers.observability.run_statistics import StoreStatisticsReader
from workers.retention import drop_done_items
from workers.runs.options import RunOptions
from workers.stages import planning
from workers.stages.scorecards import score_dossier

TTL: Final = timedelta(minutes=30)
CHUNK: Final = 200
SHARE_OF_HOST: Final = 80
"""One server in so many is a due server of the crowded host."""

_SECONDS_A_SERVER: Final = 8.0 * (0.6 + 0.3)
_PUBLISHED: Final = "night-000"
_PAGES: Final = 200
_JOINED: Final = 30_000

_RESULTS: Final = """
INSERT INTO {table} (run_key, server_key, shape_key, {columns})
SELECT run.key, old.server_key, old.shape_key, {old} FROM run
JOIN run_item item ON item.run_key = run.key AND item.stage = 'collect'
JOIN run earlier ON earlier.id = 'night-000'
JOIN {table} old ON old.run_key = earlier.key AND old.server_key = item.server_key
WHERE run.id = %s ON CONFLICT DO NOTHING
"""
_RESULT_COLUMNS: Final = {"record_set": ("blobs", "notes"), "scoring": ("blobs", "receipts")}
_DONE: Final = """
UPDATE run_item SET done_at = now(), leased_until = NULL WHERE run_key = (SELECT key FROM run WHERE id = %s)
"""

# Of an edition that is being written, of the published one, and of the places that are not written.
_NUMBERS: Final = """
UPDATE listing_edition new SET kinds = old.kinds, facets = old.facets, rubrics = old.rubrics
FROM listing_edition old WHERE new.key = %s AND old.key = %s
"""
_PLACES: Final = """
CREATE TEMPORARY TABLE copied AS
SELECT part.edition, (part.first + listed.ordinality - 1)::integer AS place, old.place AS old_place, old.server_key
FROM publication_part part
CROSS JOIN LATERAL jsonb_array_elements_text(convert_from(part.servers, 'UTF8')::jsonb)
WITH ORDINALITY AS listed (key, ordinality)
JOIN listing_server old ON old.edition = %s AND old.server_key = listed.key::integer
WHERE part.edition = %s AND part.counts IS NULL
"""
_LINES: Final = """
INSERT INTO {table} (edition, place, {columns}) SELECT copied.edition, copied.place, {old} FROM copied
JOIN {table} old ON old.edition = %s AND old.place = copied.old_place {which}
"""
_LINE_COLUMNS: Final = {
    "listing_server": ("server_key", "name", "seen", "kind", "facets", "body"),
    "listing_order": ("sort", "rank", "kind", "facets", "grade", "score"),
    "listing_text": ("name", "purpose", "tools", "readme", "words"),
}
_NOT_COMPLETED: Final = {"listing_order": f"AND old.sort <> {BY_NAME} AND old.rank <> {UNRANKED}"}
_COUNTS: Final = """
UPDATE publication_part SET counts = written.counts
FROM (SELECT counts FROM publication_part WHERE edition = %s AND counts IS NOT NULL LIMIT 1) written
WHERE edition = %s AND publication_part.counts IS NULL
"""


@dataclass
class Measured:
    """Figures of one number of servers, by step."""

    database: PostgresServer
    found: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, count: int) -> Iterator[None]:
        """Milliseconds for each of `count` servers."""
        meter = Meter({"database": [self.database.pid]})
        meter.sample()
        before, own, began = meter.seconds["database"], time.process_time(), time.perf_counter()
        yield
        wall, mine = time.perf_counter() - began, time.process_time() - own
        meter.sample()
        seconds = {"own": mine, "database": meter.seconds["database"] - before, "wall": wall}
        self.found[name] = {part: round(1000 * value / max(1, count), 3) for part, value in seconds.items()}
        print(f"  {name}: {json.dumps(self.found[name])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, nargs="+", default=[3_000, 30_000, 300_000])
    parser.add_argument("--sample", type=int, default=2_000, help="servers of the steps that are not done for all")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    for number in options.servers:
        print(f"{number} servers", flush=True)
        with postgres_server(durable=True) as database, tempfile.TemporaryDirectory() as home:
            found[number] = asyncio.run(_measure(database, Path(home), number, min(number, options.sample)))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


async def _measure(server: PostgresServer, home: Path, number: int, sample: int) -> dict[str, Any]:
    measured, url = Measured(server), server.create_database()
    window = timedelta(seconds=number / SHARE_OF_HOST * _SECONDS_A_SERVER)
    async with context(home, World([]), database_url=url, host_window=window) as ctx:
        database = Database(url)
        stored = store_nights(ctx.store, database, number, 1, measured.step)
        drop_done_items(ctx.store, _PUBLISHED)
        vacuum(url)
        night = _start(ctx, "night-002", RunOptions(registries=("official",)))
        _walk(ctx.store, night, stored.filled, measured, sample)
        _plan(ctx, night, measured, number)
        _work(ctx, night, measured, sample)
        _sweep(ctx, night, measured)
        _read_status(ctx, url, night, measured)
        _export(ctx.store, measured, number, sample)
        _export_dataset(ctx.store, home / "datasets", measured, number, sample)
        list_nights(ctx.store, database, stored, measured.step)
        vacuum(url)
        _read_pages(ctx.store, stored.filled, measured)
        measured.found["bytes"] = _sizes(url, number)
        print(f"  bytes: {json.dumps(measured.found['bytes'])}", flush=True)
        await _publish(ctx, night, url, measured, sample)
        database.close()
    return measured.found


def _start(ctx: Context, name: str, options: RunOptions) -> Run:
    return pipeline.start_run(ctx, Trigger.NIGHTLY, options, run_id=name)


def _walk(store: Store, run: Run, filled: Filled, measured: Measured, sample: int) -> None:
    servers = store.find_servers(filled.servers[:sample])
    with measured.step("walk", len(servers)):
        for start in range(0, len(servers), 100):
            page = [(one, replace(ref_of(one), registry="official")) for one in servers[start : start + 100]]
            store.put_registry_page(run.id, "official", page, cursor=str(start), done=False, at=FIRST)


def _plan(ctx: Context, run: Run, measured: Measured, number: int) -> None:
    planner, parts, more = planning.Planner(ctx, run, RunOptions(registries=("official",)), ["official"]), [], True
    with measured.step("plan", number):
        while more:
            began = time.perf_counter()
            more = planner.plan_part()
            parts.append(time.perf_counter() - began)
    progress = ctx.store.read_progress(run.id)
    assert progress.planned == number + MODELS
    figures = {"parts": len(parts), "longest part, s": round(max(parts), 2), "carried": progress.carried}
    measured.found["plan"] |= figures
    print(f"  plan: {json.dumps(figures)}", flush=True)


def _work(ctx: Context, run: Run, measured: Measured, sample: int) -> None:
    """Lease, pass on and score some servers of a whole night."""
    store, leased = ctx.store, dict[str, int]()
    with measured.step("lease", sample):
        while len(leased) < sample and (more := _lease(store, run, Stage.PROBE)):
            leased |= more
    models = [(dossier, score_dossier(dossier)) for dossier in list(captures().values())[:20]]
    made = _make_results(store, list(leased), models)
    with measured.step("pass on", len(made)):
        for some in _chunks(made):
            records = [record for dossier, _ in some for record in dossier.records.values()]
            done = [dossier.server.id for dossier, _ in some]
            tokens = {server: leased[server] for server in done}
            store.put_records(run.id, records, done=done, at=FIRST, stage=Stage.PROBE, onward={}, tokens=tokens)
    scoring: dict[str, int] = {}
    due = store.count_due_servers(run.id, FIRST)[Stage.SCORE]  # also those that keep their evidence
    with measured.step("lease to score", due):
        while more := _lease(store, run, Stage.SCORE):
            scoring |= more
    with measured.step("store receipts", len(made)):
        for some in _chunks([one for one in made if one[0].server.id in scoring]):
            done = [dossier.server.id for dossier, _ in some]
            cards = [card for _, each in some for card in each]
            store.put_scorecards(run.id, cards, done=done, at=FIRST, tokens={one: scoring[one] for one in done})


def _lease(store: Store, run: Run, stage: Stage) -> dict[str, int]:
    return store.lease_servers(run.id, stage, f"worker-{os.getpid()}", limit=CHUNK, ttl=TTL, now=FIRST)


def _make_results(
    store: Store, servers: Sequence[str], models: Sequence[tuple[Dossier, Sequence[StoredScorecard]]]
) -> list[tuple[Dossier, list[StoredScorecard]]]:
    made = []
    for place, server in enumerate(store.find_servers(servers)):
        dossier, cards = copy_of(*models[place % len(models)], place)
        records = {kind: replace(record, server=server.id) for kind, record in dossier.records.items()}
        before, after = dossier.server.id.encode(), server.id.encode()
        renamed = [replace(card, server=server.id, body=card.body.replace(before, after)) for card in cards]
        made.append((replace(dossier, server=server, records=records), renamed))
    return made


def _chunks(made: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(made), CHUNK):
        yield made[start : start + CHUNK]


def _sweep(ctx: Context, run: Run, measured: Measured) -> None:
    row = ctx.store.find_run(run.id)
    assert row is not None
    with measured.step("sweep", 5):
        for _ in range(5):
            assert not closing.is_closing_due(ctx, row)
            ctx.store.release_expired_leases(run.id, FIRST)
            ctx.store.count_due_servers(run.id, FIRST)


def _read_status(ctx: Context, url: str, run: Run, measured: Measured) -> None:
    """What metrics and `hallmark status` read of the database: the items of a run are counted."""
    reader = StoreStatisticsReader(url, ctx.clock)
    with measured.step("status", 3):
        for _ in range(3):
            assert reader.read_statistics(run.id).has_due
    reader.close()


def _read_pages(store: Store, filled: Filled, measured: Measured) -> None:
    deep: str | None = None
    for _ in range(min(20, len(filled.servers) // 400)):
        deep = store.listing.read_page(ListingQuery(), deep, 200).after or deep
    rare = filled.words[len(COMMON) + 5]
    questions: dict[str, Callable[[], object]] = {
        "first page": lambda: store.listing.read_page(ListingQuery()),
        "deep page": lambda: store.listing.read_page(ListingQuery(), deep),
        "search, rare word": lambda: store.listing.read_page(ListingQuery(text=rare)),
        "search, common word": lambda: store.listing.read_page(ListingQuery(text="mcp")),
        "search, relevance": lambda: store.listing.read_page(ListingQuery(text="github mcp", sort="relevance")),
    }
    for name, ask in questions.items():
        ask()
        times = _PAGES if "search" not in name else 20
        with measured.step(name, times):
            for _ in range(times):
                ask()


def _export(store: Store, measured: Measured, number: int, sample: int) -> None:
    """Some servers of a whole night, and apart from them what the export reads of all before the first."""
    with measured.step("begin to export", number):
        store.list_planned_servers(_PUBLISHED)
    left = sample
    with measured.step("export", sample):
        for batch in run_export.export_batches(store, _PUBLISHED, list(RUN_FILES.values())):
            left -= batch.servers
            if left <= 0:
                return


def _export_dataset(store: Store, place: Path, measured: Measured, number: int, sample: int) -> None:
    """Write parts of the dataset, and join them as often as the night is long."""
    with measured.step("plan the dataset", number):
        plan = plan_export(store, _PUBLISHED, hidden=(), code="bench", reopened={})
    folder, seconds = PartFolder(str(place), plan), []
    written = min(plan.parts, -(-sample // (BATCHES_PER_PART * BATCH_SIZE)))
    with measured.step("write dataset parts", sum(map(len, _list_batches(plan, written)))):
        for part in range(written):
            began = time.process_time()
            folder.write(store, part)
            seconds.append(time.process_time() - began)
    figures = {"parts": plan.parts, "longest part, s of CPU": round(max(seconds), 2)}
    measured.found["write dataset parts"] |= figures
    print(f"  write dataset parts: {json.dumps(figures)}", flush=True)
    joined = replace(plan, batches=plan.batches[: _JOINED // BATCH_SIZE])
    for part in range(written, joined.parts):
        copied = next(place.glob(f".*/{plan.name_part(part % written)}"))
        os.link(copied, copied.with_name(joined.name_part(part)))
    with measured.step("join the dataset", sum(map(len, joined.batches))):
        export_snapshot(
            store, ExportOrder(run=_PUBLISHED, archive=True), place / "made", PartFolder(str(place), joined)
        )
    shutil.rmtree(place)


def _list_batches(plan: ExportPlan, parts: int) -> Iterator[Sequence[str]]:
    for part in range(parts):
        yield from plan.list_batches(part)


async def _publish(ctx: Context, run: Run, url: str, measured: Measured, sample: int) -> None:
    """The whole night, with the results of the published one; parts that are not written are copied from its list."""
    number = ctx.store.read_progress(run.id).planned
    for table, columns in _RESULT_COLUMNS.items():
        old = ", ".join(f"old.{column}" for column in columns)
        _execute(url, _RESULTS.format(table=table, columns=", ".join(columns), old=old), [run.id])
    _execute(url, _DONE, [run.id])
    vacuum(url)
    with measured.step("begin to publish", number):
        await pipeline.begin_publication(ctx, run, late=True)
    edition, published = ctx.store.publication.find_edition(run.id), _find_published_edition(url)
    _execute(url, _NUMBERS, [edition, published])
    with measured.step("publish", sample):
        writer, written = PartWriter(ctx.store, run), 0
        while written < sample and (part := _lease_part(ctx, run)):
            assert writer.write(part)
            written += len(part.servers)
    _copy_parts(url, edition, published)
    with measured.step("end to publish", number):
        await pipeline.publish(ctx, run, late=True)
    row = ctx.store.find_run(run.id)
    assert row is not None
    assert row.published_at is not None
    assert ctx.store.listing.find_newest_run() == run.id


def _lease_part(ctx: Context, run: Run) -> PublicationPart | None:
    return ctx.store.publication.lease(run.id, ttl=ctx.settings.lease_ttl, now=ctx.clock.wall())


def _find_published_edition(url: str) -> int | None:
    database = Database(url)
    with database.reading() as connection:
        found = find_published_edition_key(connection)
    database.close()
    return found


def _copy_parts(url: str, edition: int | None, published: int | None) -> None:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute(_PLACES.encode(), [published, edition])
        for table, columns in _LINE_COLUMNS.items():
            old, which = ", ".join(f"old.{column}" for column in columns), _NOT_COMPLETED.get(table, "")
            query = _LINES.format(table=table, columns=", ".join(columns), old=old, which=which)
            connection.execute(query.encode(), [published])
        connection.execute(_COUNTS.encode(), [edition, edition])
    vacuum(url)


def _execute(url: str, query: str, values: Sequence[object]) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(query.encode(), values)


def _sizes(url: str, number: int) -> dict[str, int]:
    """Bytes per server: the largest tables with their indexes, and all."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        query = "SELECT relname::text, pg_total_relation_size(relid) FROM pg_stat_user_tables ORDER BY 2 DESC LIMIT 9"
        tables = {str(name): int(size) // number for name, size in connection.execute(query).fetchall()}
        whole = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert whole is not None
        return tables | {"all": int(whole[0]) // number}


if __name__ == "__main__":
    main()
