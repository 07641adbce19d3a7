"""A real deployment that an operator steers with `hallmark night`, and failures that a night gives another chance."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evidence.kinds import listing
from evidence.model import Observed
from evidence.store import RunAction, RunEvent, RunState, Stage
from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, comparable, differing, opened, until

pytestmark = pytest.mark.xdist_group("functional-celery-nights")


@pytest.mark.soak  # tests/workers/test_operator_actions.py pauses one in every run
def test_a_night_that_is_paused_and_resumed_ends_as_an_undisturbed_one(cluster: Cluster, undisturbed: bytes) -> None:
    gate = cluster.gated(seconds=2)  # those under way end before the run is paused
    cluster.start_worker(concurrency=1, app="tests.functional.gated_servers")
    cluster.start_beat()
    cluster.wait_until_collected(6)
    with opened(cluster.url) as store:
        at = store.read_database_time(datetime.now(UTC))
        store.apply_run_action(NIGHTLY, RunEvent(at=at, who="operator", what=RunAction.PAUSED, note="to see it"))
        until(lambda: not store.count_held_items(NIGHTLY), "no worker holds anything", explain=cluster.log)
        done = store.read_progress(NIGHTLY).done[Stage.COLLECT]
        assert store.list_pending_servers(NIGHTLY, Stage.COLLECT), "the run was over before the pause"
    gate.open()
    cluster.hallmark("night", "resume", "--by", "operator")
    assert differing(cluster.wait_until_published(), undisturbed) == []
    with opened(cluster.url) as store:
        assert store.read_progress(NIGHTLY).done[Stage.COLLECT] > done
        assert [event.what.value for event in store.read_run_events(NIGHTLY)] == ["paused", "resumed"]


@pytest.mark.soak  # tests/workers/test_operator_actions.py does both in every run
def test_a_night_is_started_by_hand_and_another_one_cancelled(cluster: Cluster, undisturbed: bytes) -> None:
    gate = cluster.gated()
    first = cluster.start_worker(app="tests.functional.gated_servers")
    cluster.start_beat()
    cluster.wait_until_collected(1)
    first.kill()
    gate.open()
    cluster.hallmark("night", "cancel", "--by", "operator")
    cluster.start_worker()
    run = json.loads(cluster.hallmark("night", "start", "--by", "operator", "--json"))["run"]
    with opened(cluster.url) as store:
        until(lambda: _state(store, run) is RunState.PUBLISHED, "the second night published", explain=cluster.log)
        assert _state(store, NIGHTLY) is RunState.CANCELLED
        assert store.find_snapshot(NIGHTLY) is None
    assert differing(comparable(cluster.url, run), undisturbed) == []


@pytest.mark.soak  # tests/workers/stages/test_retries.py looks again in every run
def test_servers_with_passing_failures_are_probed_again_before_the_run_ends(cluster: Cluster) -> None:
    cluster.change("HALLMARK_RETRIES", "2")
    cluster.change("HALLMARK_RETRY_AFTER", "0.5")
    cluster.change("HALLMARK_HOST_FAILURES", "1000")  # all of them share a host, which would be given a rest
    cluster.start_worker()
    cluster.start_beat()
    cluster.wait_until_published()
    with opened(cluster.url) as store:
        dossiers = store.read_dossiers(NIGHTLY, store.list_planned_servers(NIGHTLY))
        tries = [dossier.records[listing.KIND].observation.get("tries") for dossier in dossiers]
        assert any(tries), "no server failed in passing, so nothing was shown"
        unlisted = [dossier for dossier in dossiers if not isinstance(dossier.read(listing.KIND), Observed)]
        assert len(unlisted) < len(dossiers)


def _state(store, run: str) -> RunState | None:  # type: ignore[no-untyped-def]
    row = store.find_run(run)
    return None if row is None else row.state
