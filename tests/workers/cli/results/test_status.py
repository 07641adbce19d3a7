from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from evidence.model import Reason, Run, Trigger
from evidence.store import RunState, Stage, open_store
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.servers.daemon import free_port
from tests.workers import world
from tests.workers.cli.conftest import Hallmark
from workers.cli.results.status import make_status_document, render_status_page
from workers.coordination.broker_statistics import BrokerStatistics, QueueStatistics
from workers.coordination.shared_github_quota import TokenQuota
from workers.observability.status import SystemStatus, Unavailable


def test_without_a_run_status_says_what_to_do(hallmark: Hallmark) -> None:
    result = hallmark("status")
    assert result.code == 3
    assert "hallmark run" in result.err


def test_status_shows_the_published_run_and_needs_no_broker_embedded(hallmark: Hallmark, stored: Sequence[str]) -> None:
    result = hallmark("status")
    assert result.code == 0
    assert "published" in result.out
    assert samples.RUN.id in result.out
    assert "100.0 %" in result.out
    assert "embedded" in result.out
    [row] = hallmark("status", "--json").rows
    assert row["unfinished"] == []
    night = row["night"]
    assert isinstance(night, dict)
    assert night["own_failure_share"] == 0
    assert {"kind": "listing", "outcome": "start_failed", "records": 1} in night["outcomes"]
    assert night["stages"][0]["done"] == len(stored)


def test_a_run_under_way_shows_its_stages_and_own_failures(hallmark: Hallmark, home: Path) -> None:
    home.mkdir()
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    found = [*samples.dossiers(3), samples.absent_dossier(Reason.COLLECTOR_ERROR, "TypeError")]
    run = Run(id="20261121T030000Z-abc", trigger=Trigger.LOCAL, as_of=world.NIGHT, pins={})
    store.add_run(run)
    refs = [(one.server, world.ref(number)) for number, one in enumerate(found)]
    store.put_registry_page(run.id, "first", refs, cursor=None, done=True, at=world.NIGHT)
    store.plan_run(run.id, [one.server.id for one in found], world.NIGHT)
    broken = found[-1]
    store.put_records(run.id, list(broken.records.values()), done=[broken.server.id], at=world.NIGHT)
    store.record_failure(run.id, found[0].server.id, Stage.COLLECT, "crash")
    store.close()
    [row] = hallmark("status", "--json").rows
    night = row["night"]
    assert isinstance(night, dict)
    collect = night["stages"][0]
    assert (collect["done"], collect["planned"], collect["retries"], collect["failing"]) == (1, 4, 1, 1)
    assert night["own_failure_share"] > 0
    shown = hallmark("status").out
    assert "planned" in shown
    assert "25.0 %" in shown
    assert "collector_error" in shown


def test_an_outage_is_the_first_line(hallmark: Hallmark, home: Path) -> None:
    home.mkdir()
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    fill(store, [*samples.dossiers(3), samples.absent_dossier(Reason.COLLECTOR_OFFLINE, "no network")])
    store.close()
    assert hallmark("status").out.startswith("Hallmark was offline for a part of this run and did not collect: listing")
    assert hallmark("status", "--json").rows[0]["night"]["outage"].startswith("Hallmark was offline")  # type: ignore[index]


def test_a_withheld_night_says_why_and_what_to_do(hallmark: Hallmark, home: Path) -> None:
    home.mkdir()
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    run = Run(id="20261121T030000Z-nightly", trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={})
    store.add_run(run)
    store.plan_run(run.id, [], world.NIGHT)
    store.set_run_state(run.id, RunState.WITHHELD, world.NIGHT, "9 of 10 by collector_error")
    store.close()
    shown = " ".join(hallmark("status").out.split())
    assert "withheld 20261121T030000Z-nightly (nightly): 9 of 10 by collector_error; read collector_failed" in shown
    [row] = hallmark("status", "--json").rows
    (unfinished,) = row["unfinished"]  # type: ignore[misc]
    assert (unfinished["state"], unfinished["note"]) == ("withheld", "9 of 10 by collector_error")


@pytest.mark.parametrize(("is_planned", "code"), [(False, 1), (True, 0)])
def test_an_unread_registry_is_a_failure_only_while_the_night_asks_it_again(
    hallmark: Hallmark, home: Path, *, is_planned: bool, code: int
) -> None:
    home.mkdir()
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    run = Run(id="20261121T030000Z-nightly", trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={})
    store.add_run(run)
    store.record_walk_failure(run.id, "official", "no answer within 30 s", world.NIGHT)
    if is_planned:
        store.plan_run(run.id, [], world.NIGHT)
    store.close()
    result = hallmark("status")
    assert (result.code, "official could not be read" in " ".join(result.out.split())) == (code, True)


def test_watch_looks_again_until_it_is_stopped(
    hallmark: Hallmark, stored: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", pause)
    result = hallmark("status", "--watch", "--every", "7", "--json")
    assert result.code == 130
    assert len(result.rows) == 3
    assert pauses == [7, 7, 7]


def test_a_database_away_fails_without_its_password(hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_DATABASE_URL", f"postgresql+psycopg://me:s3cret@127.0.0.1:{free_port()}/x")
    result = hallmark("status", "--json")
    assert result.code == 1
    assert "s3cret" not in result.out + result.err
    [row] = result.rows
    kinds = {problem["kind"]: problem["action"] for problem in row["problems"]}  # type: ignore[union-attr, index, call-overload]
    assert "HALLMARK_DATABASE_URL" in kinds["database_unavailable"]
    page = " ".join(hallmark("status").out.split())
    assert "Problem: the database did not answer" in page
    assert "To do: start PostgreSQL" in page


def overview(broker: BrokerStatistics | Unavailable) -> SystemStatus:
    return SystemStatus(at=world.NIGHT, store=Unavailable("gone"), broker=broker, due=world.NIGHT, overdue=0)


def test_queues_show_their_length_age_and_workers() -> None:
    broker = BrokerStatistics(
        queues=(QueueStatistics("probe", 2, 61.4), QueueStatistics("score", 1, None)),
        taken=3,
        hosts=5,
        workers={"one@host": ("probe",), "two@host": ("probe", "score")},
        counters={},
        quota=(TokenQuota(token="a1b2", resource="core", left=4999, resets_in=60.0),),
    )
    console = Console(width=100)
    with console.capture() as printed:
        console.print(render_status_page(overview(broker)))
    words = " ".join(printed.get().split())
    assert "probe 2 1 min 01 s 2" in words
    assert "score 1 1" in words
    assert "one@host, two@host" in words
    assert "token a1b2: 4999 left of core" in words
    written = json.loads(json.dumps(make_status_document(overview(broker))))
    assert written["broker"]["queues"][1] == {"queue": "score", "length": 1, "oldest_s": None}
    assert written["database"] == {"away": "gone"}


def test_a_broker_that_is_away_is_said() -> None:
    assert make_status_document(overview(Unavailable("no answer")))["broker"] == {"away": "no answer"}
