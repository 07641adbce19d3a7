"""A real deployment that an operator steers with `hallmark night`, and failures that a night gives another chance."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evidence.kinds import listing
from evidence.model import Observed
from evidence.store import RunAct, RunEvent, RunState, Stage
from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, comparable, differing, opened, until

pytestmark = pytest.mark.xdist_group("functional-celery-nights")


def test_a_night_that_is_paused_and_resumed_ends_as_an_undisturbed_one(cluster: Cluster, undisturbed: bytes) -> None:
    cluster.change("HALLMARK_IN_FLIGHT", "1")  # slow enough to be paused on the way
    cluster.start_worker(concurrency=1)
    cluster.start_beat()
    cluster.wait_until_collected(6)
    with opened(cluster.url) as store:
        at = store.now(datetime.now(UTC))
        store.act(NIGHTLY, RunEvent(at=at, who="operator", what=RunAct.PAUSED, note="to see it"))
        until(lambda: not store.held(NIGHTLY), "nobody holds anything", explain=cluster.log)
        done = store.progress(NIGHTLY).done[Stage.COLLECT]
        assert store.pending(NIGHTLY, Stage.COLLECT), "the run was over before the pause"
    cluster.hallmark("night", "resume", "--by", "operator")
    assert differing(cluster.wait_until_published(), undisturbed) == []
    with opened(cluster.url) as store:
        assert store.progress(NIGHTLY).done[Stage.COLLECT] > done
        assert [event.what.value for event in store.events(NIGHTLY)] == ["paused", "resumed"]


def test_a_night_is_started_by_hand_and_another_one_cancelled(cluster: Cluster, undisturbed: bytes) -> None:
    first = cluster.start_worker()
    cluster.start_beat()
    cluster.wait_until_collected(1)
    first.kill()  # or a fast machine might be done before the command is
    cluster.hallmark("night", "cancel", "--by", "operator")
    cluster.start_worker()
    run = json.loads(cluster.hallmark("night", "start", "--by", "operator", "--json"))["run"]
    with opened(cluster.url) as store:
        until(lambda: _state(store, run) is RunState.PUBLISHED, "the second night published", explain=cluster.log)
        assert _state(store, NIGHTLY) is RunState.CANCELLED
        assert store.snapshot(NIGHTLY) is None
    assert differing(comparable(cluster.url, run), undisturbed) == []


def test_servers_that_failed_in_passing_are_looked_at_again_before_the_night_ends(cluster: Cluster) -> None:
    cluster.change("HALLMARK_RETRIES", "2")
    cluster.change("HALLMARK_RETRY_AFTER", "0.5")
    cluster.change("HALLMARK_HOST_FAILURES", "1000")  # all of them share a host, which would be given a rest
    cluster.start_worker()
    cluster.start_beat()
    cluster.wait_until_published(patience=100)
    with opened(cluster.url) as store:
        dossiers = store.dossiers(NIGHTLY, store.planned(NIGHTLY))
        tries = [dossier.records[listing.KIND].observation.get("tries") for dossier in dossiers]
        assert any(tries), "nobody failed in passing, so nothing was shown"
        unlisted = [dossier for dossier in dossiers if not isinstance(dossier.read(listing.KIND), Observed)]
        assert len(unlisted) < len(dossiers)


def _state(store, run: str) -> RunState | None:  # type: ignore[no-untyped-def]
    row = store.run(run)
    return None if row is None else row.state
