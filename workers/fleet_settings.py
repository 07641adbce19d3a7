"""The settings of a fleet: how long its tasks may take, and what happens to workers and hosts that fail."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from pydantic import Field, model_validator

from workers.night_settings import Duration, NightSettings


class FleetSettings(NightSettings):
    """A part of `Settings`, of which there is one."""

    collector_timeout: Duration = Field(
        default=timedelta(minutes=12),
        description="How long a collector may be busy with one server, its wait for its turn left out.",
    )
    lease_ttl: Duration = Field(
        default=timedelta(minutes=3),
        description="How long a worker holds a server without saying that it is still at it, which it does three times "
        "as often. After that another worker takes it over.",
    )
    lease_chunk: int = Field(default=200, ge=1, le=5000, description="Servers leased in one query by a Celery worker.")
    shards: int = Field(
        default=2, ge=1, le=256, description="Tasks kept waiting per run and queue while there is work: one per core."
    )
    shard_time: Duration = Field(
        default=timedelta(minutes=10),
        description="After this long a task leases no more servers; the next task goes on. One that has not ended "
        "`collector_timeout` later gives back what it holds, and is killed if it cannot.",
    )
    long_task_time: Duration = Field(
        default=timedelta(minutes=45), description="How long planning or publishing a run may take before it is killed."
    )
    visibility_timeout: Duration = Field(
        default=timedelta(hours=1),
        description="When Redis hands an unacknowledged task to another worker: later than any task may take.",
    )
    worker_memory: int = Field(
        default=1536,
        ge=64,
        description="MiB of memory after which a worker's process is replaced by a new one when its task is over.",
    )
    worker_tasks: int = Field(
        default=200, ge=1, description="Tasks after which a worker's process is replaced by a new one."
    )
    host_failures: int = Field(
        default=5, ge=1, description="Visits in a row that a host does not answer before it is left alone for a while."
    )
    host_rest: Duration = Field(
        default=timedelta(minutes=15), description="How long; then its servers are looked at after all."
    )
    keep_whole: Duration = Field(
        default=timedelta(days=90),
        description="For how long every night is kept whole, at least 7 days; of older ones one night a week, and of "
        "the others the receipts. 0: nothing is dropped by itself.",
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
        """Soft and hard time limit of a task, which gives back what it holds at the one and is killed at the other.

        Who was looked at last may need all of a collector's time, and what is given back is begun anew.
        """
        soft = self.shard_time + self.collector_timeout
        return soft, soft * 1.2

    @property
    def long_task_limits(self) -> tuple[timedelta, timedelta]:
        """The same of the tasks that plan or publish a whole run."""
        return self.long_task_time * 0.95, self.long_task_time
