"""Reads the statistics of the broker from Redis and from the workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any, Final

from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from workers import schedule
from workers.clock import Clock
from workers.coordination.broker_statistics import (
    COUNTERS_KEY,
    SENT_HEADER,
    BrokerStatistics,
    BrokerUnavailable,
    QueueStatistics,
    WorkerQueues,
)
from workers.coordination.shared_github_quota import STATE_KEY, read_quotas, read_token_pauses

ANSWER_SECONDS: Final = 1.0
"""How long workers have to answer; the main process of a busy worker answers too."""

_SOCKET_SECONDS: Final = 2.0
_HOST_KEYS: Final = "hallmark:host:*"
_SCANS: Final = 20
_UNACKNOWLEDGED: Final = "unacked"


class BrokerReader:
    """Reads statistics from the broker. `query_workers` is called only when the broker answers."""

    def __init__(self, url: str, clock: Clock, query_workers: Callable[[], WorkerQueues]) -> None:
        self._redis = Redis.from_url(url, socket_timeout=_SOCKET_SECONDS, socket_connect_timeout=_SOCKET_SECONDS)
        self._clock = clock
        self._query_workers = query_workers

    def close(self) -> None:
        self._redis.close()

    def is_available(self) -> bool:
        try:
            return bool(self._redis.ping())
        except RedisError:
            return False

    def read_statistics(self, versions: Collection[str] = ()) -> BrokerStatistics:
        """The statistics, with the queues of workers that answer and of these versions.

        Raise BrokerUnavailable when the broker does not answer.
        """
        try:
            github, now, workers = self._hash(STATE_KEY), self._redis_time(), self._query_workers()
            taken = {queue for queues in workers.values() for queue in queues}
            parts = {*versions, *(version for queue in taken if (version := queue.partition(".")[2]))}
            return BrokerStatistics(
                queues=tuple(self._queue(name, parts) for name in schedule.QUEUES),
                taken=self._number(self._redis.hlen(_UNACKNOWLEDGED)),
                hosts=self._hosts(),
                workers=workers,
                counters={name: float(value) for name, value in self._hash(COUNTERS_KEY).items()},
                quota=read_quotas(github, now),
                pauses=read_token_pauses(github, now),
            )
        except (RedisError, OperationalError) as error:
            raise BrokerUnavailable(f"the broker did not answer: {type(error).__name__}") from error

    def _queue(self, name: str, versions: Collection[str]) -> QueueStatistics:
        """A queue with its parts for these versions."""
        parts = [name, *(schedule.name_version_queue(name, version) for version in versions)]
        lengths = {part: self._number(self._redis.llen(part)) for part in parts}
        # kombu pushes on the left and pops on the right of a list of the queue's name.
        oldest = [self._redis.lindex(part, -1) for part, length in lengths.items() if length]
        ages = [age for message in oldest if (age := _age(message, self._clock.wall().timestamp())) is not None]
        return QueueStatistics(name, sum(lengths.values()), max(ages, default=None))

    def _hosts(self) -> int:
        """Number of leased hosts; the scan ends after some rounds, however many other keys the broker has."""
        cursor, found = 0, 0
        for _ in range(_SCANS):
            answer: Any = self._redis.scan(cursor, match=_HOST_KEYS, count=1000)
            cursor, keys = answer
            found += len(keys)
            if not cursor:
                break
        return found

    def _hash(self, key: str) -> dict[str, str]:
        found: Any = self._redis.hgetall(key)
        return {name.decode(): value.decode() for name, value in found.items()}

    def _redis_time(self) -> float:
        """Seconds of the broker's clock."""
        answer: Any = self._redis.time()
        return float(answer[0])

    def _number(self, answer: Any) -> int:
        return int(answer)


def make_worker_query(app: Any) -> Callable[[], WorkerQueues]:
    """A function that asks the workers of a Celery application which queues they take messages from."""

    def ask() -> WorkerQueues:
        answers = app.control.inspect(timeout=ANSWER_SECONDS).active_queues() or {}
        return {worker: tuple(sorted(queue["name"] for queue in queues)) for worker, queues in answers.items()}

    return ask


def _age(message: Any, now: float) -> float | None:
    """Seconds since a message was sent; None when it is not JSON or lacks our header."""
    try:
        sent = float(json.loads(message)["headers"][SENT_HEADER])
    except (TypeError, ValueError, KeyError):
        return None
    return max(0.0, now - sent)
