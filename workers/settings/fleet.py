"""Settings of a fleet: time limits of tasks, leases, worker processes, and pauses of hosts that fail."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from workers.settings.nightly import NightlySettings


class FleetSettings(NightlySettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    collector_timeout: Annotated[timedelta, "Time for one collector and one server, without waiting for its turn."] = (
        timedelta(minutes=12)
    )
    lease_ttl: Annotated[
        timedelta, "Lease of a server; renewed three times in this period, else another worker takes over."
    ] = timedelta(minutes=3)
    lease_chunk: Annotated[int, Meta(ge=1, le=5000), "Servers per lease query of a Celery worker."] = 200
    shards: Annotated[
        int, Meta(ge=1, le=256), "Tasks kept waiting per run and queue while there is work: one per core."
    ] = 2
    shard_time: Annotated[
        timedelta,
        "A task leases no more servers after this long. It is killed when it has not ended `collector_timeout` later.",
    ] = timedelta(minutes=10)
    long_task_time: Annotated[timedelta, "Limit for publishing a run."] = timedelta(minutes=45)
    visibility_timeout: Annotated[
        timedelta, "When Redis gives an unacknowledged task to another worker; longer than any task."
    ] = timedelta(hours=1)
    worker_memory: Annotated[int, Meta(ge=64), "MiB after which a worker process is replaced between tasks."] = 1536
    worker_tasks: Annotated[int, Meta(ge=1), "Tasks after which a worker process is replaced."] = 200
    host_failures: Annotated[int, Meta(ge=1), "Unanswered probes in a row before a host is paused."] = 5
    host_rest: Annotated[timedelta, "How long such a host is paused."] = timedelta(minutes=15)
    keep_whole: Annotated[
        timedelta,
        "How long every run is kept whole (at least 7 days); later one run per week, and all receipts. 0: for ever.",
    ] = timedelta(days=90)

    def __post_init__(self) -> None:
        longest = max(self.task_limits[1], self.long_task_limits[1])
        if longest >= self.visibility_timeout:
            raise ValueError(
                f"HALLMARK_VISIBILITY_TIMEOUT is {self.visibility_timeout}, expected more than {longest}, which a task "
                "may take (1.2 times HALLMARK_SHARD_TIME and HALLMARK_COLLECTOR_TIMEOUT together, or "
                "HALLMARK_LONG_TASK_TIME): otherwise Redis hands a running task to a second worker"
            )

    @property
    def task_limits(self) -> tuple[timedelta, timedelta]:
        """Soft and hard time limit of a task: at the first it releases its leases, at the second it is killed.

        The soft limit gives the server that was started last the full time of a collector, so it need not start again.
        """
        soft = self.shard_time + self.collector_timeout
        return soft, soft * 1.2

    @property
    def long_task_limits(self) -> tuple[timedelta, timedelta]:
        """Soft and hard time limit of the tasks that work on a whole run."""
        return self.long_task_time * 0.95, self.long_task_time
