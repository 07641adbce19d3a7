"""Old nights keep less, every receipt stays what it was, and nothing in use is removed, on both databases."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Dossier, Observed, Run, Trigger
from evidence.store import (
    DetectedFinding,
    Disclosure,
    FindingState,
    RunState,
    Stage,
    Store,
    StoredScorecard,
    open_store,
)
from evidence.store.database import Database
from scoring import receipt
from tests.dossiers import AS_OF, captures
from tests.evidence.store import build
from tests.evidence.store.conftest import (  # noqa: F401  fixtures: a store on each database
    copied,
    postgres,
    postgres_template,
    store,
)
from tests.evidence.store.conftest import mostly_sqlite_url as url  # noqa: F401
from tests.servers.postgres import PostgresServer
from workers import retention
from workers.rescoring import EvidenceExpired, score_run_again
from workers.retention import compact_runs
from workers.stages.scorecards import score_dossier

pytestmark = pytest.mark.xdist_group("retention")  # sixteen nights are written once, and copied

DOSSIERS = list(captures().values())[:3]
IDS = [dossier.server.id for dossier in DOSSIERS]
MONDAY = AS_OF - timedelta(days=AS_OF.weekday())
NIGHTS = 16


@dataclass
class Day:
    """A clock that stands still."""

    at: datetime

    def wall(self) -> datetime:
        """This moment."""
        return self.at


TODAY = Day(MONDAY + timedelta(days=NIGHTS))
KEEP = timedelta(days=7)


def name(number: int) -> str:
    return f"night-{number:02}"


@cache
def dossiers_of(number: int) -> list[Dossier]:
    """The first server says something new every night, the others never."""
    as_of = MONDAY + timedelta(days=number)
    changing, *others = (replace(dossier, as_of=as_of) for dossier in DOSSIERS)
    known = changing.records[listing.KIND]
    assert isinstance(known.content, Observed)
    body = known.content.body.replace(b"{", b'{"night":%d,' % number, 1)
    records = {**changing.records, listing.KIND: replace(known, content=Observed(body))}
    return [replace(changing, records=records), *others]


@cache
def cards_of(number: int) -> list[StoredScorecard]:
    return [card for dossier in dossiers_of(number) for card in score_dossier(dossier)]


def write(store: Store, number: int, trigger: Trigger = Trigger.NIGHTLY, *, published: bool = True) -> None:  # noqa: F811
    found = dossiers_of(number)
    run = Run(id=name(number), trigger=trigger, as_of=found[0].as_of, pins={"code": "1"})
    store.add_run(run)
    pages = [(dossier.server, build.ref(dossier.server, entry=b'{"night":%d}' % number)) for dossier in found]
    store.put_registry_page(run.id, "starter", pages, cursor=None, done=True, at=run.as_of)
    store.plan_run(run.id, IDS, run.as_of)
    records = [record for dossier in found for record in dossier.records.values()]
    store.put_records(run.id, records, done=IDS, at=run.as_of)
    store.put_scorecards(run.id, cards_of(number), done=IDS, at=run.as_of)
    if published:
        store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)


def fill(url: str) -> None:  # noqa: F811
    store = open_store(url)  # noqa: F811
    for number in range(NIGHTS):
        write(store, number)
    store.close()


@pytest.fixture(scope="module")
def sqlite_nights(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(sqlite_template, tmp_path_factory.mktemp("nights") / "hallmark.db"))
    fill(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="module")
def postgres_nights(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:  # noqa: F811
    made = postgres.create_database(template=postgres_template)
    fill(made)
    yield made.rpartition("/")[2]
    postgres.drop_database(made)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def nights_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield from copied(request, tmp_path, "sqlite_nights", "postgres_nights")


@pytest.fixture
def nights(nights_url: str) -> Iterator[Store]:
    """A store after all nights, which are written once and copied."""
    opened = open_store(nights_url)
    yield opened
    opened.close()


def kept(store: Store) -> list[int]:  # noqa: F811
    """The nights that still have records of the unchanged servers."""
    return [number for number in range(NIGHTS) if store.read_dossiers(name(number), [IDS[1]])[0].records]


def test_of_a_week_one_night_keeps_its_records_and_all_keep_their_receipts(nights: Store) -> None:
    cards = {number: nights.read_scorecards(name(number)) for number in range(NIGHTS)}
    progress: list[tuple[str, int]] = []
    done = compact_runs(nights, TODAY, KEEP, progress=lambda run, record_sets: progress.append((run, record_sets)))
    assert kept(nights) == [0, 7, *range(9, NIGHTS)]
    assert done.record_sets == dict(progress) == {name(number): 3 for number in (*range(1, 7), 8)}
    for number in range(NIGHTS):
        assert nights.read_scorecards(name(number)) == cards[number]
    read = [receipt.decode_scorecard(card.body) for card in cards[3]]
    assert all(receipt.recompute_score(card) == card.score for card in read)
    assert {card.score for card in read if isinstance(card.score, Decimal)}
    assert nights.verify() == []


def test_bodies_that_only_dropped_records_had_are_given_up_and_no_others(nights: Store) -> None:
    done = compact_runs(nights, TODAY, KEEP)
    assert done.swept.given_up == 7, "a listing of the first server for each night that was dropped"
    assert done.swept.deleted == NIGHTS - 1, "entries that the registry has replaced"
    assert done.swept.freed > 7 * 300
    for number in kept(nights):
        assert list(nights.read_dossiers(name(number), IDS)) == dossiers_of(number)
    again = compact_runs(nights, TODAY, KEEP)
    assert (again.record_sets, again.swept.given_up, again.swept.deleted) == ({}, 0, 0)


def test_what_was_dropped_is_noted_with_the_run(nights: Store) -> None:
    assert nights.compaction.find_dropped_records(name(3)) is None
    compact_runs(nights, TODAY, KEEP)
    noted = nights.compaction.find_dropped_records(name(3))
    assert noted is not None
    assert (noted.at, noted.record_sets, noted.done) == (TODAY.at, 3, True)
    assert nights.compaction.find_dropped_records(name(7)) is None
    assert nights.read_dossiers(name(3), IDS)[0].records == {}
    assert nights.list_planned_servers(name(3)) == sorted(IDS)
    before, after = nights.read_progress(name(7)), nights.read_progress(name(3))
    assert (after.planned, after.done) == (before.planned, before.done) == (3, {Stage.COLLECT: 3, Stage.SCORE: 3})


def test_a_dry_call_changes_nothing_and_counts_the_same(nights: Store) -> None:
    would = compact_runs(nights, TODAY, KEEP, dry=True)
    assert kept(nights) == list(range(NIGHTS))
    assert would.record_sets == compact_runs(nights, TODAY, KEEP).record_sets


def test_a_body_that_was_given_up_comes_back_when_it_is_seen_again(nights: Store) -> None:
    compact_runs(nights, TODAY, KEEP)
    seen = replace(dossiers_of(3)[0].records[listing.KIND], observed_at=TODAY.at)
    nights.add_run(Run(id="night-99", trigger=Trigger.LOCAL, as_of=TODAY.at, pins={}))
    nights.put_records("night-99", [seen], at=TODAY.at)
    assert nights.read_dossiers("night-99", [IDS[0]])[0].records == {listing.KIND: seen}
    assert nights.verify() == []


def test_nothing_of_a_server_with_a_private_finding_goes(nights: Store) -> None:
    found = DetectedFinding(id="fnd_1", server=IDS[0], rule="r", at="", message="m", severity="high", content="c")
    nights.put_findings([found], TODAY.at)
    compact_runs(nights, TODAY, KEEP)
    for number in range(NIGHTS):
        assert nights.read_dossiers(name(number), [IDS[0]])[0] == dossiers_of(number)[0]
    assert kept(nights) == [0, 7, *range(9, NIGHTS)]
    before = FindingState.PRIVATE_TRIAGE
    change = Disclosure(at=TODAY.at, who="we", before=before, after=FindingState.DISMISSED, note="a false alarm")
    nights.transition_finding("fnd_1", change)
    assert nights.verify() == []


def test_a_night_of_which_no_record_is_left_cannot_be_scored_again(nights: Store) -> None:
    compact_runs(nights, TODAY, KEEP)
    row, before = nights.find_run(name(3)), nights.list_runs(99)
    assert row is not None
    with pytest.raises(EvidenceExpired, match=f"dropped by {TODAY.at:%Y-%m-%d}"):
        score_run_again(nights, row, wall=TODAY.wall)
    assert nights.list_runs(99) == before, "no run without any server"


def test_who_has_no_record_left_is_not_scored_as_if_nothing_had_been_seen(nights: Store) -> None:
    found = DetectedFinding(id="fnd_1", server=IDS[0], rule="r", at="", message="m", severity="high", content="c")
    nights.put_findings([found], TODAY.at)
    compact_runs(nights, TODAY, KEEP)
    row = nights.find_run(name(3))
    assert row is not None
    again = score_run_again(nights, row, wall=TODAY.wall)
    assert (again.servers, again.dropped) == (1, 2)
    assert {card.server for card in nights.read_scorecards(again.run.id)} == {IDS[0]}


def test_the_newest_records_of_a_server_stay_however_old(store: Store) -> None:  # noqa: F811
    for number in range(3):
        write(store, number)
    compact_runs(store, Day(MONDAY + timedelta(days=400)), KEEP)
    assert store.read_dossiers(name(2), IDS) == dossiers_of(2)
    assert store.read_dossiers(name(1), IDS)[0].records == {}


def test_runs_under_way_and_nights_that_are_young_keep_everything(store: Store) -> None:  # noqa: F811
    write(store, 0)
    write(store, 1, published=False)
    write(store, 2)
    write(store, 3)
    assert store.compaction.list_runs(TODAY.at) == [name(2), name(3)]
    assert store.compaction.list_runs(MONDAY + timedelta(days=3)) == [name(2)]
    assert compact_runs(store, Day(MONDAY + timedelta(days=4)), timedelta(0)).record_sets == {}, (
        "at least a week is kept"
    )


@pytest.mark.parametrize("step", ["drop_records", "sweep_blobs"])
def test_an_interrupted_call_is_taken_up_again(nights: Store, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setattr(retention, "SERVERS_PER_STEP", 1)
    monkeypatch.setattr(retention, "BODIES_PER_STEP", 2)
    before = {number: nights.read_scorecards(name(number)) for number in range(NIGHTS)}
    real = getattr(nights.compaction, step)
    calls = count()

    def failing(*args: object, **options: object) -> object:
        if next(calls) == 4:
            raise KeyboardInterrupt
        return real(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(nights.compaction, step, failing)
        with pytest.raises(KeyboardInterrupt):
            compact_runs(nights, TODAY, KEEP)
    assert nights.verify() == []
    compact_runs(nights, TODAY, KEEP)
    assert kept(nights) == [0, 7, *range(9, NIGHTS)]
    assert {number: nights.read_scorecards(name(number)) for number in range(NIGHTS)} == before
    noted = nights.compaction.find_dropped_records(name(3))
    assert noted is not None
    assert (noted.record_sets, noted.done) == (3, True)
    assert nights.verify() == []


def test_what_is_written_while_bodies_are_swept_is_whole(nights: Store, nights_url: str) -> None:
    """The body of a dropped record is seen again after the marking, and before it is given up."""
    for run in nights.compaction.list_runs(TODAY.at - KEEP):
        nights.compaction.drop_records(run, TODAY.at, limit=100)
    marks = nights.compaction.mark_blobs()
    unneeded = list(marks.list_unreferenced())
    other = open_store(nights_url)
    other.add_run(Run(id="late", trigger=Trigger.LOCAL, as_of=MONDAY, pins={}))
    seen = dossiers_of(3)[0].records[listing.KIND]
    other.put_records("late", [seen], at=TODAY.at)
    other.set_run_state("late", RunState.PUBLISHED, TODAY.at)
    assert nights.compaction.sweep_blobs(marks, unneeded, TODAY.at).given_up == 6
    assert other.read_dossiers("late", [IDS[0]])[0].records == {listing.KIND: seen}
    assert nights.verify() == []
    other.close()


def test_no_process_writes_while_a_part_is_given_up(nights: Store, nights_url: str) -> None:
    database = Database(nights_url)
    began, ended = threading.Event(), threading.Event()
    order: list[str] = []

    def write_() -> None:
        other = open_store(nights_url)
        began.set()
        other.put_findings([], TODAY.at)
        other.set_run_state(name(0), RunState.PUBLISHED, TODAY.at)
        order.append("written")
        other.close()
        ended.set()

    thread = threading.Thread(target=write_)
    with database.exclusive_writing() as connection:
        thread.start()
        assert began.wait(300)
        assert not ended.wait(0.5)
        connection.exec_driver_sql("SELECT 1")
        order.append("swept")
    thread.join(60)
    assert order == ["swept", "written"]
    database.close()


def test_a_body_that_is_gone_though_a_record_needs_it_is_found(nights: Store, nights_url: str) -> None:
    database = Database(nights_url)
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE evidence_blob SET codec = 2")
    database.close()
    assert any("is gone" in problem for problem in nights.verify())


def test_stages_are_untouched_of_what_is_kept(nights: Store) -> None:
    compact_runs(nights, TODAY, KEEP)
    assert nights.list_planned_servers(name(7)) == sorted(IDS)
    assert nights.list_pending_servers(name(7), Stage.SCORE) == []


def test_items_that_a_killed_publication_left_are_dropped(nights: Store) -> None:
    before = [nights.read_progress(name(number)) for number in range(NIGHTS)]
    assert nights.compaction.list_runs_with_done_items() == [name(number) for number in range(NIGHTS)]
    compact_runs(nights, TODAY, KEEP, dry=True)
    assert nights.compaction.list_runs_with_done_items() != []
    compact_runs(nights, TODAY, KEEP)
    assert nights.compaction.list_runs_with_done_items() == []
    after = [nights.read_progress(name(number)) for number in range(NIGHTS)]
    assert [(one.planned, one.done) for one in after] == [(one.planned, one.done) for one in before]
