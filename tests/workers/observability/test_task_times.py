"""Times of tasks are counted in a real broker by signals of Celery. A worker: tests/functional/test_watching.py."""

from __future__ import annotations

import math

import pytest
from celery import Celery, Task

from tests.servers.valkey import valkey_server
from tests.stepping_clock import SteppingClock
from tests.workers import world
from workers import celery_app
from workers.coordination.broker_reader import BrokerReader
from workers.observability.task_times import TaskTimer, read_task_times


def test_each_task_is_counted_in_the_bucket_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Celery("timed", set_as_current=False)

    def wait(seconds: float) -> None:
        monkeypatch.setattr("workers.observability.task_times.monotonic", lambda: seconds)

    sweep = app.task(name="hallmark.sweep", shared=False)(wait)
    with valkey_server() as server:
        timer = TaskTimer(server.url)
        monkeypatch.setattr(celery_app, "_timer", lambda: timer)
        for seconds in (0.05, 5.0, 4000.0):
            monkeypatch.setattr("workers.observability.task_times.monotonic", lambda: 0.0)
            sweep.apply((seconds,))
        monkeypatch.undo()
        reader = BrokerReader(server.url, SteppingClock(world.NIGHT), dict)
        times = read_task_times(reader.read_statistics().counters)["sweep"]
        reader.close()
    assert list(times.buckets.values()) == [1, 1, 2, 2, 2, 2, 2, 3]
    assert (times.seconds, list(times.buckets)[-1]) == (4005.05, math.inf)


def test_a_task_ends_although_the_broker_is_away() -> None:
    timer = TaskTimer("redis://127.0.0.1:1/0")
    timer.begin()
    task = Task()
    task.name = "hallmark.sweep"
    timer.end(task)
