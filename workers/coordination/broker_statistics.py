"""Statistics of the broker, as values: queues, workers that answer, leased hosts, and GitHub's quota."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct, field

from workers.clock import SystemClock

if TYPE_CHECKING:
    from workers.coordination.shared_github_quota import TokenQuota

SENT_HEADER: Final = "hallmark_sent"
COUNTERS_KEY: Final = "hallmark:counters"
HOST_WAITS: Final = "host_waits"
HOST_WAIT_SECONDS: Final = "host_wait_seconds"

# The names of the queues that each worker takes messages from.
WorkerQueues: TypeAlias = Mapping[str, tuple[str, ...]]


class BrokerUnavailable(Exception):
    """The broker did not answer in time."""


class QueueStatistics(Struct, frozen=True):
    """Messages of a queue that no worker has taken, and seconds since the oldest was sent (None: unknown or empty)."""

    name: str
    length: int
    oldest: float | None


class BrokerStatistics(Struct, frozen=True, kw_only=True):
    """`taken` counts messages that workers have taken and not acknowledged; `hosts` counts leased hosts.

    `counters` are sums over all processes since the broker was empty; `quota` is GitHub's quota per token, and `pauses`
    has the seconds for which a rate-limited token is not used.
    """

    queues: tuple[QueueStatistics, ...]
    taken: int
    hosts: int
    workers: WorkerQueues
    counters: Mapping[str, float]
    quota: tuple[TokenQuota, ...] = ()
    pauses: Mapping[str, float] = field(default_factory=dict)


def stamp_sent_time(headers: dict[str, Any] | None = None, **_: object) -> None:
    """Add the time of sending to a message; connected to Celery's `before_task_publish`, whose headers lack it."""
    if headers is not None:
        headers[SENT_HEADER] = f"{SystemClock().wall().timestamp():.3f}"
