"""The cost of scoring: every rubric alone and all together, reused scorecards, the slowest rules, and large tools.

    python -m bench.scoring [--rounds N] [--json FILE]

Every figure is CPU time on one core and starts from the bytes of a listing; the fastest of the rounds counts. Each
round begins with empty caches of texts, as if the servers were scored for the first time by a process that has
compiled its patterns; garbage is collected as rarely as in the processes that score. `seen before` keeps what a process
still knows of the same listings. `newest of each` is the newest version of each rubric; a nightly run scores `all
versions`. The fully probed server has exchanges and is probed
here; recorded ones have a listing only. Reuse of scorecards and new scoring are both measured as the pipeline does
them, with reads and writes of a SQLite database, also with other availability samples every night, as a remote has.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from evidence.garbage import collect_garbage_rarely
from evidence.kinds import listing, samples
from evidence.kinds.samples import Sample, compose_samples
from evidence.model import Absent, Dossier, Run, Server, ServerRef, Status, Trigger
from evidence.store import Store, open_store
from scoring.engine import assess as engine
from scoring.engine import catalogue, rule
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Rubric
from scoring.engine.tool_answers import AskedRule
from scoring.engine.walk import Pages
from tests.conformance.probing import probed
from tests.dossiers import AS_OF, captures
from tests.scoring.caches import clear_caches
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed
from tests.scoring.rich import large
from tests.servers.control.running import control
from tests.servers.control.serving import Era
from workers import pipeline
from workers.stages import scorecards

CHUNK = pipeline.SERVERS_PER_CHUNK
COPIES = 20
SIZES = (1_000, 5_000, 10_000, 50_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    collect_garbage_rarely()
    result = measure(list(captures().values()), options.rounds)
    for part, figures in result.items():
        print(part)
        for name, value in figures.items():
            print(f"  {name:44} {value:>12}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def measure(dossiers: Sequence[Dossier], rounds: int) -> dict[str, dict[str, float]]:
    every = catalogue.list_rubrics()
    newest = list({rubric.id: rubric for rubric in every}.values())
    alone = {rubric.name: _server_us(dossiers, [rubric], rounds) for rubric in every}
    together = _server_us(dossiers, newest, rounds)
    return {
        "microseconds a server, one rubric": alone,
        "servers a second, one rubric": {name: round(1e6 / value) for name, value in alone.items()},
        "share of each newest rubric, per cent": _shares({name: alone[name] for name in (r.name for r in newest)}),
        "servers a second, all together": {
            "newest of each": round(1e6 / together),
            "newest of each, seen before": round(1e6 / _server_us(dossiers, newest, rounds, forget=False)),
            "all versions": round(1e6 / _server_us(dossiers, every, rounds)),
        },
        "milliseconds for a fully probed server": {
            name: round(_server_us([_fully_probed()], rubrics, rounds) / 1e3, 1)
            for name, rubrics in {**{rubric.name: [rubric] for rubric in newest}, "newest of each": newest}.items()
        },
        "milliseconds for a server with evidence of every kind": {
            name: round(_server_us([large()], rubrics, rounds) / 1e3, 1)
            for name, rubrics in {**{rubric.name: [rubric] for rubric in newest}, "newest of each": newest}.items()
        },
        "servers a second through the database": _nights(dossiers),
        "slowest ten rules, microseconds a server": _slowest(dossiers, rounds),
        "milliseconds for one tool with so many parameters": {
            f"{name} {size}": round(
                _fastest(partial(_score, _make_wide_dossier(size), [catalogue.get_rubric(name)]), 3) * 1e3, 1
            )
            for name in ("lint", "tool_design", "adaptive")
            for size in SIZES
        },
    }


@cache
def _fully_probed() -> Dossier:
    """A server of the official SDK after a full probe over loopback; none of its tools was called."""
    with control("streamable-http", Era.DUAL) as target:
        return probed(target).dossier


def _server_us(dossiers: Sequence[Dossier], rubrics: Sequence[Rubric], rounds: int, *, forget: bool = True) -> float:
    def work() -> None:
        for evidence in dossiers:
            _score(evidence, rubrics)

    return round(_fastest(work, rounds, forget=forget) / len(dossiers) * 1e6, 1)


def _score(evidence: Dossier, rubrics: Sequence[Rubric]) -> None:
    assessment = assess_dossier(evidence, rubrics)
    for rubric in rubrics:
        rubric.score(assessment)


def _nights(dossiers: Sequence[Dossier]) -> dict[str, float]:
    """Copies of the servers on four nights: two reuse receipts, one with new samples; the last has other pins."""
    servers = [
        replace(each, server=Server(ref=f"npm:copy-{n}-{each.server.id}", name="copy"))
        for each in dossiers
        for n in range(COPIES)
    ]
    pins = {"commit": "a", "source": "a"}
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/hallmark.db")
        store.migrate()
        _night(store, servers, 1, pins)
        looked_up, known = _night(store, servers, 2, pins)
        sampled = [_with_samples(each) for each in servers]
        revised, partly_known = _night(store, sampled, 3, pins)
        anew, unknown = _night(store, sampled, 4, {**pins, "commit": "b"})
        store.close()
    assert (known, partly_known, unknown) == (len(servers), len(servers), 0)
    return {
        "looked up": round(looked_up),
        "looked up, new samples": round(revised),
        "scored anew, all versions": round(anew),
        "ratio": round(looked_up / anew, 1),
    }


def _with_samples(dossier: Dossier) -> Dossier:
    """The dossier of a night in which the server was connected to, for the third time."""
    taken = [Sample(at=dossier.as_of - timedelta(days=days)) for days in range(3)]
    record = replace(dossier.records[listing.KIND], kind=samples.KIND, content=compose_samples(taken))
    return replace(dossier, records={**dossier.records, samples.KIND: record})


def _night(store: Store, servers: Sequence[Dossier], number: int, pins: dict[str, str]) -> tuple[float, int]:
    """Servers per second: scored and written, and reused."""
    run = Run(id=f"night-{number}", trigger=Trigger.NIGHTLY, as_of=AS_OF + timedelta(days=number), pins=pins)
    ids = [each.server.id for each in servers]
    store.add_run(run)
    refs = [(each.server, _ref(each.server)) for each in servers]
    store.put_registry_page(run.id, "bench", refs, cursor=None, done=True, at=run.as_of)
    store.plan_run(run.id, ids, run.as_of)
    records = [replace(record, server=each.server.id) for each in servers for record in each.records.values()]
    store.put_records(run.id, records, done=ids, at=run.as_of)
    clear_caches()
    started, known = time.process_time(), 0
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        judged = scorecards.score_servers(store, run, chunk)
        store.put_scorecards(run.id, judged.cards, done=chunk, kept=judged.kept, at=run.as_of)
        known += judged.looked_up
    return len(ids) / (time.process_time() - started), known


def _ref(server: Server) -> ServerRef:
    return ServerRef(registry="bench", name=server.ref, version="1.0.0", status=Status.ACTIVE, entry=b"{}")


def _fastest(work: Callable[[], object], rounds: int, *, forget: bool = True) -> float:
    taken = []
    for _ in range(rounds):
        if forget:
            clear_caches()
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def _shares(alone: dict[str, float]) -> dict[str, float]:
    return {name: round(100 * value / sum(alone.values()), 1) for name, value in alone.items()}


def _slowest(dossiers: Sequence[Dossier], rounds: int) -> dict[str, float]:
    """Each question on a walk that is built already; a rule under several parameters is added up."""
    fastest: dict[Any, float] = {}
    for _ in range(rounds):
        taken: Counter[Any] = Counter()
        for evidence in dossiers:
            walks = engine._build_walks(evidence)  # noqa: SLF001 - one question at a time has no public door
            for question in catalogue.list_questions():
                declared = rule.discover_rules()[question.rule]
                content = evidence.read("source" if question.pages is Pages.SOURCE else declared.reads)
                if isinstance(content, Absent):
                    continue
                started = time.process_time()
                engine._ask(AskedRule(question, declared, dict(question.params)), walks[question.pages], content.digest)  # noqa: SLF001
                taken[question] += time.process_time() - started
        fastest = {question: min(value, fastest.get(question, value)) for question, value in taken.items()}
    rules: Counter[str] = Counter()
    for question, value in fastest.items():
        rules[question.rule] += value / len(dossiers) * 1e6
    return {name: round(value, 1) for name, value in rules.most_common(10)}


def _make_wide_dossier(size: int) -> Dossier:
    properties = {f"p{index}": {"type": "string", "description": "A word."} for index in range(size)}
    return dossier(listed=listed({**GOOD_TOOL, "inputSchema": {"type": "object", "properties": properties}}))


if __name__ == "__main__":
    main()
