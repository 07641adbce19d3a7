"""The messages that beat sends, and when."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery import beat
from celery.signals import worker_init
from structlog.testing import capture_logs

from evidence.store import Store, StoreUnavailable
from tests.workers import world
from workers import celery_app, schedule
from workers.celery_app import app
from workers.coordination.broker import make_queue


def test_every_task_that_is_sent_exists_and_goes_to_its_queue(tmp_path: Path) -> None:
    app.loader.import_default_modules()
    table: Any = schedule.build_beat_table(world.settings(tmp_path))
    for entry in table.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["queue"] == schedule.TASK_QUEUES[entry["task"]]
    assert set(schedule.TASK_QUEUES) == {task for task in app.tasks if task.startswith("hallmark.")}


@pytest.mark.parametrize("nightly", [time(3), time(21, 30)])
def test_old_nights_are_compacted_once_a_day_apart_from_a_night(tmp_path: Path, nightly: time) -> None:
    entry: Any = schedule.build_beat_table(world.settings(tmp_path, nightly_at=nightly))["compact"]
    assert (entry["schedule"].hour, entry["schedule"].minute) == ({(nightly.hour + 12) % 24}, {nightly.minute})
    assert "compact" not in schedule.build_beat_table(world.settings(tmp_path, keep_whole=timedelta(0)))


def test_a_beat_that_starts_plans_and_sweeps_at_once_and_leaves_planning_to_its_version() -> None:
    service = beat.Service(app, scheduler_cls=beat.Scheduler)
    celery_app._start_at_once(sender=service)
    due = {name for name, entry in service.scheduler.schedule.items() if entry.is_due()[0]}
    assert due == {schedule.PLAN_ENTRY, schedule.SWEEP_ENTRY}
    planning = service.scheduler.schedule[schedule.PLAN_ENTRY]
    assert planning.options["queue"].name == f"probe.{celery_app.worker_version()}"


def test_a_worker_takes_the_tasks_of_its_version_from_its_queues_only() -> None:
    queues = app.amqp.Queues([make_queue(name) for name in schedule.QUEUES])
    queues.select([schedule.SCORE_QUEUE, schedule.SCAN_QUEUE])
    worker = SimpleNamespace(app=SimpleNamespace(amqp=SimpleNamespace(queues=queues)))
    celery_app._consume_own_version(worker)
    mine = celery_app.worker_version()
    assert sorted(queues.consume_from) == ["scan", f"scan.{mine}", "score", f"score.{mine}"]


@pytest.mark.usefixtures("all_events")
def test_a_worker_without_a_database_says_what_to_do_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: object) -> None:
        raise StoreUnavailable("connection refused")

    waited: list[float] = []
    monkeypatch.setattr(Store, "migrate", refuse)
    monkeypatch.setattr(celery_app.time, "sleep", waited.append)
    monkeypatch.setattr(celery_app, "_configure_logs", lambda: None)
    with capture_logs() as logs, pytest.raises(SystemExit) as ended:
        worker_init.send(sender=None)
    assert ended.value.code == 1
    assert 30 < sum(waited) < 120
    assert {line["event"] for line in logs} == {"database_unavailable"}
    assert "HALLMARK_DATABASE_URL" in logs[0]["action"]
