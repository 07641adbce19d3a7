"""An upgrade in the middle of a night: two versions of the workers share a broker and a database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evidence.store import RunState, Store
from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, Process, comparable, differing, opened, until
from tests.functional.recorded_tasks import read_tasks

pytestmark = pytest.mark.xdist_group("functional-celery-nights")

APP = "tests.functional.recorded_tasks"


def test_an_upgrade_in_mid_night_lets_each_version_finish_its_own_night(
    cluster: Cluster, undisturbed: bytes, tmp_path: Path
) -> None:
    gate = cluster.gated()
    old, _ = _start_version(cluster, "old", tmp_path)
    beat = cluster.start_beat()
    cluster.wait_until_collected(6)
    beat.stop(60)
    del cluster.environment["GATE"]
    new, _ = _start_version(cluster, "new", tmp_path)
    cluster.start_beat("new-beat")
    run = json.loads(cluster.hallmark("night", "start", "--by", "operator", "--beside", "--json"))["run"]
    with opened(cluster.url) as store:
        until(_is_published(store, run), "the newer night published", explain=cluster.log)
        assert not _is_published(store, NIGHTLY)(), "the older night was over before the newer one"
        gate.open()
        until(_is_published(store, NIGHTLY), "the older night published", explain=cluster.log)
    assert _runs(old) == {NIGHTLY}
    assert _runs(new) == {run}
    assert "PinMismatch" not in "".join(file.read_text() for file in cluster.log_files())
    for each in (run, NIGHTLY):
        assert differing(comparable(cluster.url, each), undisturbed) == []


def test_a_night_whose_version_has_no_worker_waits_and_the_log_says_what_to_do(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.gated()
    _, worker = _start_version(cluster, "old", tmp_path)
    cluster.start_beat()
    cluster.wait_until_collected(6)
    worker.kill()
    new, newer = _start_version(cluster, "new", tmp_path)
    until(lambda: "run_of_other_version_waits" in newer.log_file.read_text(), "the log names it", explain=cluster.log)
    assert NIGHTLY not in _runs(new)


def test_a_beat_that_starts_plans_long_before_its_interval_is_over(cluster: Cluster) -> None:
    cluster.change("HALLMARK_PLAN_EVERY", "3600")
    cluster.change("HALLMARK_SWEEP_EVERY", "3600")
    cluster.start_worker()
    cluster.start_beat()
    with opened(cluster.url) as store:
        until(lambda: store.find_run(NIGHTLY) is not None, "the night is there", explain=cluster.log, patience=120)


def _start_version(cluster: Cluster, commit: str, folder: Path) -> tuple[Path, Process]:
    """Start a worker of a commit; return the file with its tasks, and the worker."""
    tasks = folder / f"tasks-of-{commit}"
    tasks.touch()
    cluster.change("HALLMARK_COMMIT", commit)
    cluster.change("TASKS", str(tasks))
    return tasks, cluster.start_worker(app=APP)


def _runs(tasks: Path) -> set[str]:
    """The runs that the workers had tasks about, other than to look for a run that is due."""
    return {argument for task, argument in read_tasks(tasks) if argument != "-" and task != "sweep"}


def _is_published(store: Store, run: str) -> Callable[[], bool]:
    def is_published() -> bool:
        row = store.find_run(run)
        return row is not None and row.state is RunState.PUBLISHED

    return is_published
