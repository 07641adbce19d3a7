"""A real deployment: beat discovers, workers collect and score, and whatever fails on the way changes nothing."""

from __future__ import annotations

import pytest

from evidence.store import Stage
from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, differing, opened

pytestmark = pytest.mark.xdist_group("functional-celery")

MIDWAY = 12


def test_beat_and_workers_export_what_an_embedded_run_does(cluster: Cluster, undisturbed: bytes) -> None:
    cluster.start_worker()
    cluster.start_beat()
    assert differing(cluster.wait_until_published(), undisturbed) == []


def test_a_worker_killed_in_mid_batch_changes_nothing(cluster: Cluster, undisturbed: bytes) -> None:
    first = cluster.start_worker()
    cluster.start_beat()
    cluster.wait_until_collected(MIDWAY)
    first.kill()
    with opened(cluster.url) as store:
        assert store.pending(NIGHTLY, Stage.COLLECT), "killed too late to show anything"
    cluster.start_worker()
    assert differing(cluster.wait_until_published(), undisturbed) == []


def test_a_broker_restart_in_mid_run_changes_nothing(cluster: Cluster, undisturbed: bytes) -> None:
    cluster.start_worker()
    cluster.start_beat()
    cluster.wait_until_collected(MIDWAY)
    cluster.valkey.restart()
    assert differing(cluster.wait_until_published(), undisturbed) == []


def test_a_database_restart_in_mid_run_changes_nothing(cluster: Cluster, undisturbed: bytes) -> None:
    cluster.start_worker()
    cluster.start_beat()
    cluster.wait_until_collected(MIDWAY)
    cluster.postgres.restart()
    assert differing(cluster.wait_until_published(), undisturbed) == []


def test_two_beats_make_one_run(cluster: Cluster, undisturbed: bytes) -> None:
    cluster.start_worker()
    cluster.start_beat()
    cluster.start_beat("second-beat")
    assert differing(cluster.wait_until_published(), undisturbed) == []
    with opened(cluster.url) as store:
        assert [row.run.id for row in store.runs()] == [NIGHTLY]
