"""Settings of a fleet: time limits of tasks, leases, worker processes, and pauses of hosts that fail."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from pydantic import Field, model_validator

from workers.settings.nightly import Duration, NightlySettings


class FleetSettings(NightlySettings):
    """A part of `Settings`."""

    collector_timeout: Duration = Field(
        default=timedelta(minutes=12),
        description="Time for one collector and one server, without waiting for its turn.",
    )
    lease_ttl: Duration = Field(
        default=timedelta(minutes=3),
        description="Lease of a server; renewed three times in this period, else another worker takes over.",
    )
    lease_chunk: int = Field(default=200, ge=1, le=5000, description="Servers per lease query of a Celery worker.")
    shards: int = Field(
        default=2, ge=1, le=256, description="Tasks kept waiting per run and queue while there is work: one per core."
    )
    shard_time: Duration = Field(
        default=timedelta(minutes=10),
        description="A task leases no more servers after this long. It is killed when it has not ended "
        "`collector_timeout` later.",
    )
    long_task_time: Duration = Field(default=timedelta(minutes=45), description="Limit for publishing a run.")
    visibility_timeout: Duration = Field(
        default=timedelta(hours=1),
        description="When Redis gives an unacknowledged task to another worker; longer than any task.",
    )
    worker_memory: int = Field(
        default=1536, ge=64, description="MiB after which a worker process is replaced between tasks."
    )
    worker_tasks: int = Field(default=200, ge=1, description="Tasks after which a worker process is replaced.")
    host_failures: int = Field(default=5, ge=1, description="Unanswered probes in a row before a host is paused.")
    host_rest: Duration = Field(default=timedelta(minutes=15), description="How long such a host is paused.")
    keep_whole: Duration = Field(
        default=timedelta(days=90),
        description="How long every run is kept whole (at least 7 days); later one run per week, and all "
        "receipts. 0: for ever.",
    )

    @model_validator(mode="after")
    def _tasks_end_before_redelivery(self) -> Self:
        longest = max(self.task_limits[1], self.long_task_limits[1])
        if longest >= self.visibility_timeout:
            raise ValueError(
                f"visibility_timeout is {self.visibility_timeout}, expected more than {longest}, which a task may take "
                "(1.2 times shard_time and collector_timeout together, or long_task_time): otherwise Redis hands a "
                "running task to a second worker"
            )
        return self

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
