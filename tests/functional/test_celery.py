"""A real deployment: beat discovers, workers collect and score, and whatever fails on the way changes nothing."""

from __future__ import annotations

import json

import pytest
from celery import Celery
from redis import Redis

from evidence.model import Reason
from evidence.store import Stage
from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, differing, opened
from workers import schedule

pytestmark = pytest.mark.xdist_group("functional-celery")

MIDWAY = 12
GATED = "tests.functional.gated_servers"  # the run is not over before the test has disturbed it


# In `make test` one night of tests/chaos has the faults of those below that are marked `soak`.


@pytest.mark.soak
def test_a_worker_killed_in_mid_batch_changes_nothing(cluster: Cluster, undisturbed: bytes) -> None:
    gate = cluster.gated()
    first = cluster.start_worker(app=GATED)
    cluster.start_beat()
    _wait_until_midway(cluster)
    first.kill()
    _assert_unfinished(cluster)
    gate.open()
    cluster.start_worker()
    assert differing(cluster.wait_until_published(), undisturbed) == []


def test_two_beats_make_one_run_that_is_an_embedded_one_and_a_worker_that_stops_releases_its_servers(
    cluster: Cluster, undisturbed: bytes
) -> None:
    cluster.change("HALLMARK_LEASE_TTL", "3600")  # no other worker could take them over in time
    cluster.change("HALLMARK_IN_FLIGHT", "1")
    gate = cluster.gated(seconds=5)  # those under way end before a worker stops
    first = cluster.start_worker(app=GATED)
    cluster.start_beat()
    cluster.start_beat("second-beat")
    _wait_until_midway(cluster)
    first.stop(patience=300)
    _assert_unfinished(cluster)
    gate.open()
    cluster.start_worker()
    assert differing(cluster.wait_until_published(), undisturbed) == []
    with opened(cluster.url) as store:
        assert [row.run.id for row in store.list_runs()] == [NIGHTLY]


@pytest.mark.soak
@pytest.mark.parametrize("forgets", [False, True])
def test_a_broker_restart_in_mid_run_changes_nothing(cluster: Cluster, undisturbed: bytes, forgets: bool) -> None:
    gate = cluster.gated()
    cluster.start_worker(app=GATED)
    cluster.start_beat()
    _wait_until_midway(cluster)
    if forgets:
        cluster.valkey.kill()
        cluster.valkey.start()
        with Redis.from_url(cluster.valkey.url) as redis:
            redis.flushall()
    else:
        cluster.valkey.restart()
    _assert_unfinished(cluster)
    gate.open()
    assert differing(cluster.wait_until_published(), undisturbed) == []


@pytest.mark.soak
def test_a_database_restart_in_mid_run_changes_nothing(cluster: Cluster, undisturbed: bytes) -> None:
    gate = cluster.gated()
    cluster.start_worker(app=GATED)
    cluster.start_beat()
    _wait_until_midway(cluster)
    cluster.postgres.restart()
    _assert_unfinished(cluster)
    gate.open()
    assert differing(cluster.wait_until_published(), undisturbed) == []


@pytest.mark.soak
def test_a_message_that_is_delivered_many_times_changes_nothing(cluster: Cluster, undisturbed: bytes) -> None:
    cluster.start_worker()
    cluster.start_beat()
    _wait_until_midway(cluster)
    sender = Celery(broker=cluster.valkey.url, set_as_current=False)
    for task in (schedule.PROBE_SHARD, schedule.SCORE_SHARD, schedule.PUBLISH_RUN):
        for _ in range(5):
            sender.send_task(task, args=[NIGHTLY], queue=schedule.TASK_QUEUES[task])
    assert differing(cluster.wait_until_published(), undisturbed) == []


@pytest.mark.soak  # tests/workers/nightly/test_quarantine.py sets such servers aside in every run
@pytest.mark.parametrize("how", ["crash", "hang"])
def test_only_a_server_that_kills_its_workers_is_quarantined(cluster: Cluster, undisturbed: bytes, how: str) -> None:
    """Held with all others when it kills first, with a few when it does again, and alone the third time."""
    victim = _listed(undisturbed)[0]
    cluster.change("DEADLY_SERVER", victim)
    cluster.change("DEADLY_HOW", how)
    cluster.change("HALLMARK_LEASE_CHUNK", "48")
    if how == "hang":  # the hard time limit ends it after 4.8 s
        cluster.change("HALLMARK_SHARD_TIME", "2")
        cluster.change("HALLMARK_COLLECTOR_TIMEOUT", "2")
    cluster.start_worker(app="tests.functional.deadly")
    cluster.start_beat()
    export = cluster.wait_until_published()
    changed = {line.split()[0] for line in differing(export, undisturbed)}
    assert changed == {victim}
    with opened(cluster.url) as store:
        records = store.read_dossiers(NIGHTLY, [victim])[0].records
        reasons = {record.content.reason for kind, record in records.items() if kind != "registration"}  # type: ignore[union-attr]
        assert reasons == {Reason.QUARANTINED}
        assert store.read_progress(NIGHTLY).done[Stage.SCORE] == len(store.list_planned_servers(NIGHTLY))


def _listed(export: bytes) -> list[str]:
    """Servers with tools in an export, by id."""
    lines = [json.loads(line) for line in export.splitlines()]
    return [line["server"]["id"] for line in lines if line["records"]["listing"]["absent"] is None]


def _wait_until_midway(cluster: Cluster) -> None:
    cluster.wait_until_collected(MIDWAY)


def _assert_unfinished(cluster: Cluster) -> None:
    """The fault came while servers were still being probed; else the test would show nothing."""
    with opened(cluster.url) as store:
        assert store.list_pending_servers(NIGHTLY, Stage.COLLECT), "the run was over before the fault"
