"""The messages that beat sends, and when."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.workers import world
from workers import schedule
from workers.celery_app import app


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
