"""How long tasks took: workers count each task in Redis, by its name and in buckets of seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Any, Final

from msgspec import Struct
from redis import Redis
from redis.exceptions import RedisError

from workers.coordination.broker_statistics import COUNTERS_KEY

BUCKETS: Final = (0.1, 1.0, 10.0, 60.0, 300.0, 900.0, 3600.0, math.inf)
"""Upper bounds in seconds. A bound that is removed leaves its counts out of all metrics until Redis is empty."""

_PREFIX: Final = "task_seconds"
_SUM: Final = "sum"
_ANSWER_SECONDS: Final = 2.0


class TaskTimes(Struct, frozen=True):
    """All runs of a task since the broker was empty: by bucket, with those of the smaller ones, and their seconds."""

    buckets: Mapping[float, int]
    seconds: float


@dataclass
class TaskTimer:
    """Measures the tasks of this process, which runs one at a time.

    What Redis does not take is not counted.
    """

    url: str
    _began: float = field(default=0.0, init=False)

    def begin(self) -> None:
        self._began = monotonic()

    def end(self, task: Any) -> None:
        name, seconds = task.name.removeprefix("hallmark."), monotonic() - self._began
        bound = next(bound for bound in BUCKETS if seconds <= bound)
        with suppress(RedisError), self._redis.pipeline(transaction=False) as pipeline:
            pipeline.hincrby(COUNTERS_KEY, f"{_PREFIX}:{name}:{bound}", 1)
            pipeline.hincrbyfloat(COUNTERS_KEY, f"{_PREFIX}:{name}:{_SUM}", seconds)
            pipeline.execute()

    @cached_property
    def _redis(self) -> Redis:
        return Redis.from_url(self.url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS)


def read_task_times(counters: Mapping[str, float]) -> dict[str, TaskTimes]:
    """The times of each task, from the counters of a deployment."""
    fields = [name.split(":") for name in counters]
    tasks = sorted({parts[1] for parts in fields if len(parts) == 3 and parts[0] == _PREFIX})
    return {task: _read_task(counters, task) for task in tasks}


def _read_task(counters: Mapping[str, float], task: str) -> TaskTimes:
    buckets: dict[float, int] = {}
    total = 0
    for bound in BUCKETS:
        total += int(counters.get(f"{_PREFIX}:{task}:{bound}", 0))
        buckets[bound] = total
    return TaskTimes(buckets, counters.get(f"{_PREFIX}:{task}:{_SUM}", 0.0))
