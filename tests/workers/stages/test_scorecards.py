"""Receipts of unchanged evidence are looked up, and are those that scoring anew would give, byte for byte."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from crawler.collectors.drift import DriftDeriver
from evidence.derive import listing_scan, poisoning
from evidence.derive.poisoning import Hit
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, Observed, Reason, Run, Trigger
from evidence.store import CorruptBlob, Stage, Store, StoredScorecard, open_store
from evidence.store.database import Database
from evidence.store.sql.packing import unpack_numbers
from publish.disclosure import private_rule_ids
from scoring.engine import catalogue
from scoring.engine.evidence_kinds import kinds_of_question, kinds_of_rubric, reads_date
from scoring.engine.reuse import CONFINED
from scoring.engine.rubric import Rubric
from scoring.receipt import decode_scorecard
from tests.dossiers import AS_OF, captures
from tests.evidence.store import build
from tests.evidence.store.conftest import mostly_sqlite_url as url  # noqa: F401
from tests.evidence.store.conftest import (  # noqa: F401  fixtures: a store on each database
    postgres,
    postgres_template,
    store,
)
from tests.publish.findings.test_identity import INJECTION
from tests.publish.findings.test_identity import server as listing_server
from tests.sampling import some
from tests.workers.world import ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.context import Context
from workers.publication import finding_disclosure
from workers.runs import pins
from workers.runs.options import RunOptions
from workers.stages import scorecards

PINS = {"code": "1", "commit": "c0ffee", "source": "0123", "ruleset": "1"}
DOSSIERS = list(captures().values())[:5]
IDS = [dossier.server.id for dossier in DOSSIERS]


def night(number: int, **pins: str) -> Run:
    as_of = AS_OF + timedelta(days=number, microseconds=number)
    return Run(id=f"2026112{number}", trigger=Trigger.NIGHTLY, as_of=as_of, pins={**PINS, **pins})


def collected(store: Store, run: Run, dossiers: Sequence[Dossier] = DOSSIERS) -> Run:  # noqa: F811
    """A run with evidence and no receipts."""
    store.add_run(run)
    pages = [(dossier.server, build.ref(dossier.server)) for dossier in dossiers]
    store.put_registry_page(run.id, "starter", pages, cursor=None, done=True, at=run.as_of)
    ids = [dossier.server.id for dossier in dossiers]
    store.plan_run(run.id, ids, run.as_of)
    records = [
        replace(record, observed_at=run.as_of, observation={"ms": run.as_of.microsecond})
        for dossier in dossiers
        for record in dossier.records.values()
    ]
    store.put_records(run.id, records, done=ids, at=run.as_of)
    return run


def scored(store: Store, run: Run) -> scorecards.ScoredBatch:  # noqa: F811
    """Judge everything that waits and store what came of it, as the pipeline does."""
    servers = store.list_pending_servers(run.id, Stage.SCORE)
    judged = scorecards.score_servers(store, run, servers)
    done = [server for server in servers if server not in judged.errors]
    store.put_scorecards(run.id, judged.cards, done=done, kept=judged.kept, at=run.as_of)
    return judged


def anew(run: Run, dossiers: Sequence[Dossier] = DOSSIERS) -> list[StoredScorecard]:
    return [card for dossier in dossiers for card in scorecards.score_dossier(replace(dossier, as_of=run.as_of))]


def in_order(cards: Sequence[StoredScorecard]) -> list[StoredScorecard]:
    return sorted(cards, key=lambda card: (card.server, card.rubric, card.version))


def test_looked_up_receipts_are_those_of_scoring_anew(store: Store) -> None:  # noqa: F811
    assert scored(store, collected(store, night(1))).looked_up == 0
    second = collected(store, night(2))
    judged = scored(store, second)
    assert (judged.looked_up, judged.errors) == (len(DOSSIERS), {})
    assert {server: kept.run for server, kept in judged.kept.items()} == dict.fromkeys(IDS, night(1).id)
    assert in_order(anew(second)) == store.read_scorecards(second.id)
    assert {decode_scorecard(card.body).as_of for card in store.read_scorecards(second.id)} == {second.as_of}
    third = collected(store, night(3))
    assert scored(store, third).looked_up == len(DOSSIERS), "copies are copied on"
    assert store.read_scorecards(third.id) == in_order(anew(third))


def test_no_finding_depends_on_what_changes_while_receipts_are_kept() -> None:
    private = [one for one in catalogue.list_questions() if one.rule in private_rule_ids()]
    assert private
    assert not [one for one in private if kinds_of_question(one) & scorecards.QUIET or reads_date(one)]


def test_findings_of_kept_receipts_are_those_of_scoring_anew(store: Store) -> None:  # noqa: F811
    bad = _with_body(DOSSIERS[0], listing_server(INJECTION).records["listing"].content)

    def record_night(run: Run) -> scorecards.ScoredBatch:
        judged = scorecards.score_servers(store, run, store.list_pending_servers(run.id, Stage.SCORE))
        finding_disclosure.record_findings(
            store,
            run.id,
            judged.cards,
            dossiers=judged.dossiers,
            kept=judged.kept,
            same_findings=judged.same_findings,
        )
        store.put_scorecards(run.id, judged.cards, done=IDS, kept=judged.kept, at=run.as_of)
        return judged

    record_night(collected(store, night(1), [bad, *DOSSIERS[1:]]))
    first = store.read_findings()
    assert first
    second = collected(store, night(2), [_with_kind(bad, "samples", 2), *DOSSIERS[1:]])
    assert bad.server.id in record_night(second).kept
    assert store.read_findings() == [replace(row, last_seen=second.as_of) for row in first]
    store.put_findings([first[0].finding], second.as_of + timedelta(hours=1))  # by a re-test
    third = collected(store, night(3), [_with_kind(bad, "samples", 3), *DOSSIERS[1:]])
    assert bad.server.id in record_night(third).kept
    assert store.read_findings() == [replace(row, last_seen=third.as_of) for row in first]


def test_a_changed_server_is_scored_anew_beside_unchanged_ones(store: Store) -> None:  # noqa: F811
    scored(store, collected(store, night(1)))
    other = _with_body(DOSSIERS[0], DOSSIERS[1].records["listing"].content)
    second = collected(store, night(2), [other, *DOSSIERS[1:]])
    assert scored(store, second).looked_up == len(DOSSIERS) - 1
    assert store.read_scorecards(second.id) == in_order(anew(second, [other, *DOSSIERS[1:]]))


def _with_kind(dossier: Dossier, kind: str, number: int) -> Dossier:
    """The dossier with a record of a kind that says something else every night."""
    known = dossier.records.get(kind, dossier.records["listing"])
    record = replace(known, kind=kind, content=Absent(Reason.TIMEOUT, f"{number}"))
    return replace(dossier, records={**dossier.records, kind: record})


CHANGING = ["access", "alerts", "interop", "listing", "registration", "samples", "source"]


@pytest.mark.parametrize("kind", some(CHANGING, 1, besides=["samples", "listing"]))
def test_rubrics_that_do_not_read_what_changed_are_looked_up(
    store: Store,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    made: set[str] = set()
    score_one = scorecards.score_dossier

    def counting(dossier: Dossier, rubrics: Sequence[Rubric] | None = None) -> list[StoredScorecard]:
        made.update(rubric.name for rubric in rubrics or catalogue.list_rubrics())
        return score_one(dossier, rubrics)

    def dossiers(number: int) -> list[Dossier]:
        return [_with_kind(dossier, kind, number) for dossier in DOSSIERS[:3]]

    scored(store, collected(store, night(1), dossiers(1)))
    with monkeypatch.context() as patch:
        patch.setattr(scorecards, "score_dossier", counting)
        second = collected(store, night(2), dossiers(2))
        scored(store, second)
    assert store.read_scorecards(second.id) == in_order(anew(second, dossiers(2)))
    reading = {rubric.name for rubric in catalogue.list_rubrics() if kind in kinds_of_rubric(rubric)}
    assert made == (set() if kind in CONFINED else reading), "the samples of every night are new"


def _with_body(dossier: Dossier, content: object) -> Dossier:
    assert isinstance(content, Observed)
    listing = replace(dossier.records["listing"], content=content)
    return replace(dossier, records={**dossier.records, "listing": listing})


@pytest.mark.parametrize("pins", [{"commit": "other"}, {"source": "other"}, {"ruleset": "2"}, {"new": "1"}])
def test_other_pins_are_scored_anew(tmp_path: Path, pins: dict[str, str]) -> None:
    opened = _opened(tmp_path)
    scored(opened, collected(opened, night(1), DOSSIERS[:2]))
    assert scored(opened, collected(opened, night(2, **pins), DOSSIERS[:2])).looked_up == 0


@pytest.mark.parametrize("name", ["commit", "source"])
def test_code_that_cannot_be_named_is_not_trusted_to_be_the_same(tmp_path: Path, name: str) -> None:
    opened = _opened(tmp_path)
    for number in (1, 2):
        run = collected(opened, night(number, **{name: "unknown"}), DOSSIERS[:2])
        assert scored(opened, run).looked_up == 0
    nameless = replace(night(3), pins={key: value for key, value in PINS.items() if key != name})
    assert scorecards.find_reusable(opened, collected(opened, nameless, DOSSIERS[:2]), IDS[:2]) == {}


def _opened(tmp_path: Path) -> Store:
    opened = open_store(f"sqlite:///{tmp_path}/hallmark.db")
    opened.migrate()
    return opened


def test_a_set_with_a_card_missing_too_many_or_unreadable_is_not_copied(tmp_path: Path) -> None:
    opened = _opened(tmp_path)
    few, many, odd, whole = DOSSIERS[:4]
    first = collected(opened, night(1), DOSSIERS[:4])
    cards = {
        dossier.server.id: scorecards.score_dossier(replace(dossier, as_of=first.as_of)) for dossier in DOSSIERS[:4]
    }
    extra = replace(cards[many.server.id][0], rubric="retired")
    forged = replace(cards[odd.server.id][-1], body=b"{}")  # of one that is not dated, since others are made anew
    put = [
        *cards[few.server.id][1:],
        *cards[many.server.id],
        extra,
        forged,
        *cards[odd.server.id][:-1],
        *cards[whole.server.id],
    ]
    opened.put_scorecards(first.id, put, done=list(cards), at=first.as_of)
    second = collected(opened, night(2), DOSSIERS[:4])
    assert list(scorecards.find_reusable(opened, second, list(cards))) == [whole.server.id]
    assert scored(opened, second).looked_up == 1
    assert opened.read_scorecards(second.id) == in_order(anew(second, DOSSIERS[:4]))


def test_a_server_that_failed_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = _opened(tmp_path)
    score_one = scorecards.score_dossier
    broken = DOSSIERS[0].server.id

    def raising(dossier: Dossier, rubrics: Sequence[Rubric] | None = None) -> list[StoredScorecard]:
        if dossier.server.id == broken:
            raise ZeroDivisionError("a rule's bug")
        return score_one(dossier, rubrics)

    with monkeypatch.context() as patch:
        patch.setattr(scorecards, "score_dossier", raising)
        assert list(scored(opened, collected(opened, night(1), DOSSIERS[:3])).errors) == [broken]
    second = collected(opened, night(2), DOSSIERS[:3])
    assert scored(opened, second).looked_up == 2
    assert opened.read_scorecards(second.id) == in_order(anew(second, DOSSIERS[:3]))


def test_a_dated_rubric_that_cannot_be_revised_is_scored_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = _opened(tmp_path)
    rubrics = (*catalogue.list_rubrics()[1:], _aging(catalogue.list_rubrics()[0]))
    monkeypatch.setattr(catalogue, "list_rubrics", lambda: rubrics)
    scored(opened, collected(opened, night(1), DOSSIERS[:3]))
    second = collected(opened, night(2), DOSSIERS[:3])
    assert scored(opened, second).looked_up == 3
    assert opened.read_scorecards(second.id) == in_order(anew(second, DOSSIERS[:3]))
    aged = opened.read_scorecards(second.id, rubric=rubrics[-1].id, version=rubrics[-1].version)
    assert {card.score for card in aged} == {Decimal(second.as_of.day)}


def _aging(rubric: Rubric) -> Rubric:
    """The same rubric, scoring by the day of the month."""
    return replace(
        rubric,
        dated=True,
        revise=None,
        judge=lambda assessment: replace(rubric.judge(assessment), score=Decimal(assessment.as_of.day)),
    )


def test_a_dated_rubric_that_raises_leaves_its_server_without_copies_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = _opened(tmp_path)
    first, *others = catalogue.list_rubrics()
    monkeypatch.setattr(catalogue, "list_rubrics", lambda: (replace(first, dated=True), *others))
    scored(opened, collected(opened, night(1), DOSSIERS[:2]))
    monkeypatch.setattr(catalogue, "list_rubrics", lambda: (_raising(first, IDS[0]), *others))
    second = collected(opened, night(2), DOSSIERS[:2])
    assert list(scored(opened, second).errors) == [IDS[0]]
    assert {card.server for card in opened.read_scorecards(second.id)} == {IDS[1]}
    assert opened.list_pending_servers(second.id, Stage.SCORE) == [IDS[0]]


def _raising(rubric: Rubric, server: str) -> Rubric:
    def judge(assessment):  # type: ignore[no-untyped-def]
        if assessment.server == server:
            raise ZeroDivisionError("a rubric's bug")
        return rubric.judge(assessment)

    return replace(rubric, dated=True, judge=judge, revise=None)


def test_the_source_that_judges_is_pinned() -> None:
    assert re.fullmatch("[0-9a-f]{16}", pins.read_current_pins([])["source"])


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The servers that were scored anew, in turn."""
    found: list[str] = []
    score_one = scorecards.score_dossier

    def score(dossier: Dossier, rubrics: Sequence[Rubric] | None = None) -> list[StoredScorecard]:
        found.append(dossier.server.id)
        return score_one(dossier, rubrics)

    monkeypatch.setattr(scorecards, "score_dossier", score)
    return found


def test_a_second_night_of_the_pipeline_scores_nothing_anew(tmp_path: Path, judged: list[str]) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(number) for number in range(3)]])
        async with context(tmp_path, World([registry])) as ctx:
            for name in ("2026-1", "2026-2"):
                run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)), run_id=name)
                await pipeline.discover(ctx, run)
                await pipeline.collect(ctx, run, ctx.store.list_planned_servers(name))
                await pipeline.score(ctx, run, ctx.store.list_planned_servers(name))
                await pipeline.publish(ctx, run)
            assert len(judged) == len(set(judged)) == 3
            first, second = (ctx.store.read_scorecards(name) for name in ("2026-1", "2026-2"))
            assert first == second, "the scripted clock stands still"
            assert len(second) == 3 * len(catalogue.list_rubrics())

    asyncio.run(main())


def damage_receipts(ctx: Context, run: str, server: str) -> None:
    """Make all stored receipts of a server unreadable."""
    database = Database(ctx.settings.store_url)
    with database.writing() as connection:
        query = "SELECT receipts FROM scoring JOIN server ON server.key = server_key WHERE server.id = ? AND run_key = "
        query += "(SELECT key FROM run WHERE id = ?)"
        for key in unpack_numbers(connection.exec_driver_sql(query, (server, run)).scalar_one()):
            connection.exec_driver_sql("UPDATE receipt SET body = x'00', codec = 1 WHERE key = ?", (key,))
    database.close()


async def score_night(ctx: Context, name: str) -> list[str]:
    """Plan, collect and score a night; return its servers."""
    run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)), run_id=name)
    await pipeline.discover(ctx, run)
    servers = ctx.store.list_planned_servers(name)
    await pipeline.collect(ctx, run, servers)
    await pipeline.score(ctx, run, servers)
    return servers


def test_a_damaged_receipt_lets_only_its_own_server_be_scored_anew(tmp_path: Path, judged: list[str]) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(number) for number in range(3)]])
        async with context(tmp_path, World([registry])) as ctx:
            servers = await score_night(ctx, "2026-1")
            before = ctx.store.read_scorecards("2026-1")
            damage_receipts(ctx, "2026-1", servers[0])
            judged.clear()
            with structlog.testing.capture_logs() as logs:
                await score_night(ctx, "2026-2")
            assert judged == [servers[0]]
            named = [(one["server"], one["log_level"]) for one in logs if one["event"] == "stored_receipt_damaged"]
            assert named == [(servers[0], "error")]
            assert ctx.store.read_scorecards("2026-2") == before
            assert ctx.store.read_scorecards("2026-1") == before, "equal receipts are mended in every run"

    asyncio.run(main())


def test_damaged_evidence_fails_only_its_own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(number) for number in range(3)]])
        async with context(tmp_path, World([registry])) as ctx:
            read = ctx.store.read_dossiers

            def reading(run: str, servers: Sequence[str]) -> list[Dossier]:
                if min(ctx.store.list_planned_servers(run)) in servers:
                    raise CorruptBlob("a body that was damaged")
                return read(run, servers)

            monkeypatch.setattr(ctx.store, "read_dossiers", reading)
            bad, *sound = await score_night(ctx, "2026-1")
            assert {card.server for card in ctx.store.read_scorecards("2026-1")} == set(sound)
            assert ctx.store.list_pending_servers("2026-1", Stage.SCORE) == [bad]

    asyncio.run(main())


def test_a_receipt_that_is_damaged_when_it_is_published_is_made_again(tmp_path: Path) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(number) for number in range(3)]])
        async with context(tmp_path, World([registry])) as ctx:
            servers = await score_night(ctx, "2026-1")
            before = ctx.store.read_scorecards("2026-1")
            damage_receipts(ctx, "2026-1", servers[1])
            run = ctx.store.find_run("2026-1")
            assert run is not None
            assert await pipeline.publish(ctx, run.run)
            assert ctx.store.read_scorecards("2026-1") == before

    asyncio.run(main())


@pytest.mark.parametrize(("known", "scans"), [({}, 0), ({"commit": "unknown"}, 1)])
def test_a_listing_that_the_collecting_process_found_clean_is_scanned_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: dict[str, str], scans: int
) -> None:
    run, found = night(1, **known), DOSSIERS[0]
    (drifted,) = DriftDeriver().derive(found, Dossier(server=found.server, as_of=found.as_of), run.as_of)
    opened = _opened(tmp_path)
    collected(opened, run, [found])
    opened.put_records(run.id, [drifted], at=run.as_of)
    scanned: list[Listing] = []

    def scan(seen: Listing) -> tuple[Hit, ...]:
        scanned.append(seen)
        return poisoning.scan_listing(seen)

    monkeypatch.setattr(listing_scan, "scan_listing", scan)
    listing_scan._known.cache_clear()
    made = scorecards.score_servers(opened, run, [found.server.id]).cards
    assert len(scanned) == scans
    listing_scan._known.cache_clear()
    assert in_order(made) == in_order(anew(run, opened.read_dossiers(run.id, [found.server.id])))
