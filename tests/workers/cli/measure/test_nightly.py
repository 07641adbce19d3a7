"""`hallmark night`: an operator controls the nightly runs of a fleet, and sees the reason of each refusal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evidence.kinds import listing
from evidence.model import Absent, Reason, Record, Run, Trigger
from evidence.store import RunAction, RunState, Stage, Store, open_store
from tests.evidence.store import build
from tests.servers.postgres import postgres_server
from tests.workers import world
from tests.workers.cli.conftest import Hallmark

RUN = "20261121T030000Z-nightly"
OLDER = "20261120T030000Z-nightly"


@pytest.fixture(autouse=True)
def _operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.cli.operator.read_login_name", lambda: "operator")


@contextmanager
def _store(home: Path) -> Iterator[Store]:
    home.mkdir(exist_ok=True)
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    yield store
    store.close()


def _nights(home: Path, *names: str, broken: int = 0) -> list[str]:
    """Planned nights of ten servers, the first so many of which are collected and failed through us."""
    servers = [build.server(number) for number in range(10)]
    ids = sorted(server.id for server in servers)
    with _store(home) as store:
        for name in names:
            run = Run(id=name, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={"code": "1"})
            store.add_run(run)
            pairs = [(server, build.ref(server)) for server in servers]
            store.put_registry_page(name, "first", pairs, cursor=None, done=True, at=world.NIGHT)
            store.plan_run(name, ids, world.NIGHT)
            failed = [_failed(server) for server in ids[:broken]]
            store.put_records(name, failed, done=ids, at=world.NIGHT)
            store.put_scorecards(name, [], done=ids, at=world.NIGHT)
    return ids


def _failed(server: str) -> Record:
    return Record(
        server=server,
        kind=listing.KIND,
        schema=listing.SCHEMA,
        collector="protocol",
        collector_version=2,
        observed_at=world.NIGHT,
        content=Absent(Reason.COLLECTOR_ERROR, "ZeroDivisionError"),
    )


def _state(home: Path, run: str = RUN) -> RunState:
    with _store(home) as store:
        row = store.find_run(run)
        assert row is not None
        return row.state


def test_a_night_is_paused_and_goes_on(hallmark: Hallmark, home: Path) -> None:
    _nights(home, RUN)
    assert hallmark("night", "pause", "--reason", "a quiet hour").code == 0
    assert _state(home) is RunState.PAUSED
    (shown,) = hallmark("night", "show", "--json").rows
    assert (shown["state"], shown["note"]) == ("paused", "a quiet hour")
    assert hallmark("night", "resume").code == 0
    assert _state(home) is RunState.PLANNED
    (shown,) = hallmark("night", "show", "--json").rows
    trail = shown["trail"]
    assert isinstance(trail, list)
    assert [(one["who"], one["what"], one["note"]) for one in trail] == [
        ("operator", "paused", "a quiet hour"),
        ("operator", "resumed", ""),
    ]


def test_what_cannot_be_done_says_what_can(hallmark: Hallmark, home: Path) -> None:
    _nights(home, RUN)
    refused = hallmark("night", "resume")
    assert refused.code == 1
    assert f"run {RUN} cannot be resumed: it is under way: pause, publish or cancel it" in refused.err
    assert hallmark("night", "cancel", "--by", "somebody else").code == 0
    again = hallmark("night", "pause", RUN)
    assert again.code == 1
    assert "it is cancelled, which is final" in again.err
    none = hallmark("night", "pause")
    assert none.code == 3
    assert "no unfinished nightly run" in none.err
    unknown = hallmark("night", "cancel", "19")
    assert unknown.code == 3
    assert "expected the id of one nightly run, found none for '19'" in unknown.err


def test_without_a_name_the_newest_that_is_not_over_is_meant(hallmark: Hallmark, home: Path) -> None:
    _nights(home, OLDER, RUN)
    hallmark("night", "cancel", RUN)
    assert hallmark("night", "pause").code == 0
    assert _state(home, OLDER) is RunState.PAUSED


def test_a_beginning_that_fits_several_nights_names_them(hallmark: Hallmark, home: Path) -> None:
    _nights(home, OLDER, RUN)
    both = hallmark("night", "cancel", "2026")
    assert both.code == 3
    assert f"{RUN}, {OLDER}" in both.err


def test_a_decision_without_a_name_is_refused(hallmark: Hallmark, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _nights(home, RUN)
    monkeypatch.setattr("workers.cli.operator.read_login_name", lambda: "")
    refused = hallmark("night", "cancel")
    assert refused.code == 2
    assert "--by" in refused.err
    assert _state(home) is RunState.PLANNED


def test_a_withheld_night_says_why_and_what_to_do(hallmark: Hallmark, home: Path) -> None:
    _nights(home, RUN, broken=3)
    with _store(home) as store:
        store.set_run_state(RUN, RunState.WITHHELD, world.NIGHT, "3 of 10 servers have no listing")
    shown = hallmark("night", "show")
    assert "withheld: 3 of 10 servers have no listing" in shown.out
    assert "night publish --anyway" in " ".join(shown.out.split())
    listed = hallmark("night", "list")
    assert "3 of 10 servers have no listing" in listed.out


def test_a_night_under_way_says_that_it_would_be_withheld(hallmark: Hallmark, home: Path) -> None:
    _nights(home, RUN, broken=3)
    (shown,) = hallmark("night", "show", "--json").rows
    assert shown["withheld_for"] == (
        "3 of 10 servers (30.0%, at most 5.0% allowed) have no listing through a failure of ours: 3 collector_error"
    )


def test_a_night_tells_since_when_its_carried_servers_wait(hallmark: Hallmark, home: Path) -> None:
    ids = _nights(home, OLDER)
    with _store(home) as store:
        store.add_run(Run(id=RUN, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={"code": "1"}))
        new = build.server(11)
        store.put_registry_page(RUN, "first", [(new, build.ref(new))], cursor=None, done=True, at=world.NIGHT)
        store.plan_run(RUN, [*ids, new.id], world.NIGHT, carried=[*ids[:3], new.id])
    (row,) = hallmark("night", "show", RUN, "--json").rows
    since = world.NIGHT.isoformat(timespec="seconds")
    assert (row["carried"], row["carried_since"], row["carried_unseen"]) == (4, since, 1)
    assert "1 of those not due; they are scheduled first next time" in hallmark("night", "show", RUN).out


def test_resuming_a_withheld_night_looks_again_at_what_failed(hallmark: Hallmark, home: Path) -> None:
    ids = _nights(home, RUN, broken=3)
    with _store(home) as store:
        store.set_run_state(RUN, RunState.WITHHELD, world.NIGHT, "3 of 10")
    assert "3 servers are tried again" in hallmark("night", "resume").err
    with _store(home) as store:
        assert store.list_pending_servers(RUN, Stage.COLLECT) == store.list_pending_servers(RUN, Stage.SCORE) == ids[:3]
        assert store.read_dossiers(RUN, ids[:1])[0].records == {}
        assert [event.what for event in store.read_run_events(RUN)] == [RunAction.REOPENED]
    assert _state(home) is RunState.PLANNED


def test_publishing_anyway_needs_a_reason(hallmark: Hallmark, home: Path) -> None:
    _nights(home, RUN)
    refused = hallmark("night", "publish", "--anyway")
    assert refused.code == 2
    assert "--reason" in refused.err


def test_a_night_is_published_by_hand_only_when_it_is_fit_or_anyway(
    hallmark: Hallmark, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _nights(home, RUN, broken=3)
    monkeypatch.setattr("workers.runs.pins.check_pins", lambda *_: None)
    refused = hallmark("night", "publish")
    assert refused.code == 1
    assert "have no listing through a failure of ours" in refused.err
    assert _state(home) is RunState.PLANNED
    done = hallmark("night", "publish", "--anyway", "--reason", "known", "--json")
    assert done.rows == [{"run": RUN, "state": "published", "note": "known"}]
    with _store(home) as store:
        assert store.find_snapshot(RUN) is not None
        assert [(event.who, event.what) for event in store.read_run_events(RUN)] == [("operator", RunAction.PUBLISHED)]


def test_a_night_of_other_code_is_not_published_by_this(hallmark: Hallmark, home: Path) -> None:
    _nights(home, RUN)
    refused = hallmark("night", "publish", "--anyway", "--reason", "known")
    assert refused.code == 1
    assert "Finish it with the code that planned it" in refused.err
    assert _state(home) is RunState.PLANNED


def test_no_night_is_started_where_there_is_no_fleet(hallmark: Hallmark, home: Path) -> None:
    refused = hallmark("night", "start")
    assert refused.code == 2
    assert "`hallmark run` starts at once" in refused.err


def test_a_night_started_by_hand_is_one_of_the_fleet(hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres_server() as postgres:
        url = postgres.create_database()
        monkeypatch.setenv("HALLMARK_DATABASE_URL", url)
        done = hallmark("night", "start", "--registry", "starter", "--limit", "3", "--reason", "to see it", "--json")
        (shown,) = done.rows
        store = open_store(url)
        row = store.find_run(str(shown["run"]))
        assert row is not None
        assert (row.run.trigger, row.state) == (Trigger.NIGHTLY, RunState.DISCOVERING)
        assert (row.options["registries"], row.options["limit"]) == (["starter"], 3)
        assert [(event.what, event.note) for event in store.read_run_events(row.run.id)] == [
            (RunAction.STARTED, "to see it")
        ]
        store.close()
        unknown = hallmark("night", "start", "--registry", "no-such-registry")
        assert unknown.code == 2
        beside = hallmark("night", "start", "--registry", "starter")
        assert beside.code == 1
        assert f"run {shown['run']} is unfinished" in beside.err
        assert "--beside" in beside.err
        assert hallmark("night", "start", "--registry", "starter", "--beside").code == 0


def test_a_registry_that_could_not_be_read_is_why_a_night_does_not_begin(hallmark: Hallmark, home: Path) -> None:
    with _store(home) as store:
        store.add_run(Run(id=RUN, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={}))
        store.record_walk_failure(RUN, "official", "no answer", world.NIGHT)
    (row,) = hallmark("night", "list", "--json").rows
    assert row["note"] == "official could not be read: no answer"
    assert "no answer" in hallmark("night", "list").out


def test_help_says_what_the_states_mean(hallmark: Hallmark) -> None:
    help_text = " ".join(hallmark("night", "--help").out.split())
    for word in ("paused", "withheld", "cancel", "--anyway", "Exit codes"):
        assert word in help_text
