"""Settings of nightly runs: when they are due, how servers are scheduled per host, and when a run ends."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Annotated

from msgspec import Meta

from workers.settings.datasets import DatasetSettings


class NightlySettings(DatasetSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    nightly_at: Annotated[time, "UTC time of day at which a nightly run is due."] = time(3)
    plan_every: Annotated[timedelta, "How often beat checks that the due run exists."] = timedelta(minutes=10)
    sweep_every: Annotated[timedelta, "How often beat issues due tasks and publishes finished runs."] = timedelta(
        seconds=30
    )
    light_every: Annotated[
        timedelta, "Interval of availability samples between runs, plus or minus a quarter. 0: never."
    ] = timedelta(hours=8)
    light_batch: Annotated[int, Meta(ge=1, le=20_000), "Remotes per round of availability samples."] = 500
    run_deadline: Annotated[timedelta, "A nightly run is published as it is after this long."] = timedelta(hours=20)
    tail_wait: Annotated[timedelta, "How long a nightly run with 99 % of its servers scored waits for the others."] = (
        timedelta(minutes=45)
    )
    retries: Annotated[
        int,
        Meta(ge=0, le=10),
        "How often a transient failure (unreachable, timeout, rate limit) is tried again in the same run.",
    ] = 2
    retry_after: Annotated[timedelta, "Delay before such a try, plus or minus a quarter."] = timedelta(minutes=20)
    local_retry_after: Annotated[
        timedelta, "`hallmark run` tries transient failures once more after this long. 0: never."
    ] = timedelta(0)
    host_window: Annotated[
        timedelta, "How long a run may use one host. Servers that do not fit take turns and keep their last evidence."
    ] = timedelta(hours=6)
    visit_requests: Annotated[float, Meta(gt=0), "Average requests per server and run."] = 8.0
    night_spread: Annotated[timedelta, "Hosts start at pseudo-random times within this long. 0: at once."] = timedelta(
        0
    )
    own_failure_bound: Annotated[
        float, Meta(ge=0, le=1), "Share of listings missing because of Hallmark above which a run is withheld."
    ] = 0.05
    scoring_failure_bound: Annotated[
        float, Meta(ge=0, le=1), "Share of servers that could not be scored above which a run is withheld."
    ] = 0.01
