"""The cost of a history of runs: `python -m bench.history --servers 10000 --nights 30 [--count 5] [--json FILE]`.

Synthetic remotes, distributed as in the census, are written run after run through the Store as the pipeline does: plan,
earlier evidence, records, changes, receipts, dropped items. Two of a hundred open servers change their tools and
receipts in each run; nothing is probed or scored. The figure after the seconds is the CPU time of a thousand servers in
units of a fixed piece of work that is measured before and after each run, because the speed of machines varies. Sizes
are measured after a plain VACUUM, as autovacuum leaves tables. With `--count N` function calls and the work of the
database are counted in every Nth run, whose times are then invalid.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from msgspec.structs import replace

from bench.history_counts import Work, count, open_work_counter
from bench.simulation.metering import Meter
from bench.store import make_bodies, ref, sqlite_bytes
from bench.visits import observations
from evidence.canonical import canonical_json
from evidence.derive.secret_scrubbing import scrub_record
from evidence.kinds import samples
from evidence.kinds.samples import Sample
from evidence.model import Absent, Observed, Reason, Record, Run, Server, Target, TargetType, Trigger
from evidence.store import RunState, Store, StoredScorecard, open_store
from scoring.receipt import replace_evidence_digests, replace_moment
from tests.dossiers import captures
from tests.servers.postgres import postgres_server
from workers.preload import preload_modules
from workers.retention import drop_done_items
from workers.stages.scorecards import score_dossier

FIRST = datetime(2026, 6, 1, 3, tzinfo=UTC)
BATCH = 200
PINS = {"code": "1", "commit": "0123abc", "source": "89ef"}
KINDS = ("access", "drift", "exchanges", "listing", "registration", "samples", "trials")


@dataclass(frozen=True)
class Remote:
    """A synthetic server with its evidence; `changed` counts how often its tools have changed."""

    server: Server
    open: bool
    absent: Absent
    listing: bytes
    cards: tuple[StoredScorecard, ...]
    changed: int = 0

    def body(self, kind: str) -> Observed | Absent:
        """The content of a record, for every kind but samples."""
        if kind == "registration":
            return Observed(canonical_json({"entries": [{"name": self.server.name}]}))
        if kind == "access" and self.absent.reason in {Reason.OAUTH_REQUIRED, Reason.NOT_COLLECTED}:
            return Observed(b'{"class":"open"}' if self.open else b'{"class":"oauth","metadata":{"issuer":"x"}}')
        if not self.open:
            return self.absent
        bodies = {"drift": b'{"alarm":false}', "trials": b'{"policy":"read","trials":[]}'}
        numbered = b'{"changed":%d,' % self.changed
        return Observed(bodies.get(kind) or numbered + (self.listing if kind == "listing" else self.listing[:700]))


def make_remotes(count: int, seed: int = 1) -> list[Remote]:
    """Remotes in the mix of the census, with tool lists of about 8 KB and receipts of real servers."""
    chance = random.Random(seed)
    models = [tuple(score_dossier(dossier)) for dossier in list(captures().values())[:8]]
    bodies = make_bodies(count, seed)
    made = []
    for number in range(count):
        share = chance.random()
        reason = (
            Absent(Reason.NOT_COLLECTED)
            if share < 0.58
            else Absent(Reason.OAUTH_REQUIRED, "401 with metadata")
            if share < 0.85
            else Absent(Reason.NOT_MCP, "HTML")
            if share < 0.95
            else Absent(Reason.UNREACHABLE, "no address")
        )
        url = f"https://{number}.example/mcp"
        target = Target(type=TargetType.STREAMABLE_HTTP, identifier=url)
        server = Server(ref=url, name=f"example/{number}", targets=(target,), seen_in=("official",))
        model = models[number % len(models)]
        cards = tuple(_card(card, server, model[0].server) for card in model)
        made.append(Remote(server, share < 0.58, reason, bodies[number][1:], cards))
    return made


def _card(card: StoredScorecard, server: Server, model: str) -> StoredScorecard:
    return replace(card, server=server.id, body=card.body.replace(model.encode(), server.id.encode()))


@dataclass
class History:
    """Nights over the same remotes in one database."""

    store: Store
    remotes: list[Remote]
    chance: random.Random
    checks: int
    churn: float

    def night(self, number: int) -> dict[str, float]:
        """Write one night; seconds by step."""
        run = Run(id=f"night-{number:04}", trigger=Trigger.NIGHTLY, as_of=FIRST + timedelta(days=number), pins=PINS)
        if number:
            self.remotes = [self._changed(remote) for remote in self.remotes]
        seconds = {"plan": _timed(lambda: self._plan(run))}
        for step in (self._records, self._receipts):
            seconds[step.__name__.strip("_")] = _timed(lambda step=step: self._run_step(run, step))  # type: ignore[misc]
        self.store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)
        seconds["drop"] = _timed(lambda: drop_done_items(self.store, run.id))
        return seconds

    def _plan(self, run: Run) -> None:
        self.store.add_run(run)
        for batch in _batches(self.remotes):
            page = [(remote.server, ref(remote.server)) for remote in batch]
            self.store.put_registry_page(run.id, "official", page, cursor=None, done=False, at=run.as_of)
        self.store.plan_run(run.id, [remote.server.id for remote in self.remotes], run.as_of)

    def _run_step(self, run: Run, step: Callable[[Run, Sequence[Remote]], None]) -> None:
        for batch in _batches(self.remotes):
            step(run, batch)

    def _records(self, run: Run, batch: Sequence[Remote]) -> None:
        known = self.store.read_earlier(run.id, [remote.server.id for remote in batch])
        records: list[Record] = []
        for remote in batch:
            before = known.get(remote.server.id)
            records += self._visit(run, remote, before.records if before else {})
        self.store.put_records(run.id, records, done=[remote.server.id for remote in batch], at=run.as_of)

    def _visit(self, run: Run, remote: Remote, known: Mapping[str, Record]) -> Iterator[Record]:
        at = run.as_of + timedelta(milliseconds=self.chance.randrange(3_600_000))
        seen = observations(self.chance, at, open_=remote.open)
        contents = {kind: remote.body(kind) for kind in KINDS if kind != samples.KIND}
        taken = self._window(remote, at, known)
        for kind in KINDS:
            is_sampled = kind == samples.KIND
            record = Record(
                server=remote.server.id,
                kind=kind,
                schema=1,
                collector="registration" if kind == "registration" else "drift" if kind == "drift" else "protocol",
                collector_version=1,
                observed_at=at if kind != "registration" else at - timedelta(microseconds=812_345),
                content=samples.compose_samples(taken) if is_sampled else contents[kind],
                observation=samples.write_samples(taken) if is_sampled else seen[kind],
            )
            yield scrub_record(record) if is_sampled else record

    def _window(self, remote: Remote, at: datetime, known: Mapping[str, Record]) -> Sequence[Sample]:
        """The attempts of 30 days: that of tonight, and the availability samples since last night."""
        record = known.get(samples.KIND)
        taken = list(samples.read_samples(record.observation)) if record else []
        fails = remote.absent.reason is Reason.UNREACHABLE
        for back in reversed(range(self.checks)):
            when = at - timedelta(days=back) / self.checks
            cold, warm = (round(self.chance.lognormvariate(5.5, 0.8), 1) for _ in range(2))
            fine = Sample(at=when, cold_ms=cold, warm_ms=warm)
            taken.append(Sample(at=when, failure=samples.UNREACHABLE) if fails else fine)
        return samples.select_window(taken, at)

    def _receipts(self, run: Run, batch: Sequence[Remote]) -> None:
        ids = [remote.server.id for remote in batch]
        self.store.read_changes(run.id, ids)
        digests = self.store.read_digests(run.id, ids)
        cards = [
            replace(
                card, body=replace_evidence_digests(replace_moment(card.body, run.as_of), digests[remote.server.id])
            )
            for remote in batch
            for card in remote.cards
        ]
        self.store.put_scorecards(run.id, cards, done=ids, at=run.as_of)

    def _changed(self, remote: Remote) -> Remote:
        if not remote.open or self.chance.random() >= self.churn:
            return remote
        number = remote.changed + 1
        cards = (_reworded(card, number) for card in remote.cards)
        return dataclasses.replace(remote, changed=number, cards=tuple(cards))


def _reworded(card: StoredScorecard, number: int) -> StoredScorecard:
    """The receipt with other texts in the same number of lines."""
    text = card.body.replace(b'"caveats":[', b'"caveats":["changed %d times",' % number, 1)
    return replace(card, body=text.replace(b',],"ceiling"', b'],"ceiling"', 1))


def measure(url: str, size: Callable[[], dict[str, int]], options: argparse.Namespace) -> list[dict[str, Any]]:
    """The nights one after the other; what each took and by how much each table grew."""
    with open_work_counter(url) as work:
        return _nights(url, size, options, work)


def _nights(
    url: str, size: Callable[[], dict[str, int]], options: argparse.Namespace, work: Work
) -> list[dict[str, Any]]:
    store = open_store(url)
    store.migrate()
    history = History(store, make_remotes(options.servers), random.Random(7), options.checks, options.churn)
    preload_modules()  # as every worker does; the collector would go through all remotes again and again
    nights = []
    meter = Meter({"all": [os.getpid()]})  # the database is a child of ours, or a library
    before = size()
    for number in range(options.nights):
        slowness = [_yardstick()]
        meter.sample()
        began = meter.seconds["all"]
        seconds: dict[str, float] = {}
        counts: dict[str, int] = {}
        if options.count and number % options.count == 0:
            store.close()  # PostgreSQL reports the statistics of a session when it ends
            counts = count(partial(_whole_night, history, number), work, url.startswith("sqlite"))
        else:
            seconds = history.night(number)
        meter.sample()
        cpu = meter.seconds["all"] - began
        slowness.append(_yardstick())
        after = size()
        ids = [remote.server.id for remote in history.remotes[:BATCH]]
        run_id = f"night-{number:04}"
        nights.append(
            {
                "seconds": {**seconds, "night": sum(seconds.values()), "cpu": cpu},
                "pace": {"yardsticks": 1000 * cpu / statistics.mean(slowness) / options.servers},
                "counts": {name: number / options.servers for name, number in counts.items()},
                "reads": {
                    "dossiers": _timed(lambda: store.read_dossiers(run_id, ids)) / len(ids) * 1000,  # noqa: B023
                    "scorecards": _timed(lambda: store.read_scorecards(run_id, servers=ids)) / len(ids) * 1000,  # noqa: B023
                },
                "bytes": {table: (after[table] - before.get(table, 0)) / options.servers for table in after},
            }
        )
        before = after
        print(_line(number, nights[-1]), flush=True)
    assert options.unverified or store.verify() == []
    store.close()
    return nights


def _whole_night(history: History, number: int) -> None:
    history.night(number)
    history.store.close()


def _line(number: int, night: Mapping[str, Mapping[str, float]]) -> str:
    grown = night["bytes"]
    total = sum(grown.values())
    names = ("record_set", "scoring", "run_item", "evidence_attempts", "evidence_blob", "receipt")
    parts = " ".join(f"{name.removeprefix('evidence_')} {grown.get(name, 0):,.0f}" for name in names if name in grown)
    steps = " ".join(f"{name} {seconds:.1f}" for name, seconds in night["seconds"].items())
    reads = " ".join(f"{name} {took:.2f}" for name, took in night["reads"].items())
    if counts := night["counts"]:
        return f"night {number + 1:3}: counted a server: " + " ".join(f"{name} {n:,.0f}" for name, n in counts.items())
    yardsticks = night["pace"]["yardsticks"]
    return (
        f"night {number + 1:3}: {steps} s, {yardsticks:.2f} | {total:,.0f} B a server ({parts}) | ms a server: {reads}"
    )


def _yardstick() -> float:
    """CPU seconds that a fixed piece of work takes now, to compare nights although machines vary in speed."""
    began = time.process_time()
    for number in range(300):
        text = canonical_json({f"{word}": [word, number] for word in range(200)})
        assert zlib.decompress(zlib.compress(text)) == text
    return time.process_time() - began


def _timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _batches(remotes: Sequence[Remote]) -> Iterator[Sequence[Remote]]:
    for start in range(0, len(remotes), BATCH):
        yield remotes[start : start + BATCH]


def postgresql_tables(url: str) -> dict[str, int]:
    """Bytes of every table with its indexes, after a VACUUM."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("VACUUM")
        query = "SELECT relname::text, pg_total_relation_size(relid) FROM pg_stat_user_tables"
        return {str(name): int(size) for name, size in connection.execute(query).fetchall()}


def databases() -> Iterator[tuple[str, str, Callable[[], dict[str, int]]]]:
    """Name, URL and measure of an empty database of each sort."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hallmark.db"
        yield "sqlite", f"sqlite:///{path}", lambda: {"file": sqlite_bytes(path)}
    with postgres_server(durable=True) as server:
        yield "postgresql", server.url, lambda: postgresql_tables(server.url)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=10_000)
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--checks", type=int, default=1, help="attempts to connect a day, that of the night included")
    parser.add_argument("--churn", type=float, default=0.02, help="share of open servers that change in a night")
    parser.add_argument("--count", type=int, default=0, metavar="N", help="count in every Nth night")
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--unverified", action="store_true", help="do not read everything back at the end")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    for name, url, size in databases():
        if options.only in {None, name}:
            print(name, flush=True)
            found[name] = measure(url, size, options)
    if options.json:
        options.json.write_text(json.dumps({"servers": options.servers, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
