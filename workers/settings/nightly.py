"""Settings of nightly runs: when they are due, how servers are scheduled per host, and when a run ends."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from workers.settings.part import SettingsPart


def _seconds(value: object) -> object:
    """A number written as text is seconds; pydantic reads everything else (`PT10M`, `01:00:00`)."""
    try:
        return timedelta(seconds=float(value)) if isinstance(value, str) else value
    except ValueError:
        return value


Duration: TypeAlias = Annotated[timedelta, BeforeValidator(_seconds)]


class NightlySettings(SettingsPart):
    """A part of `Settings`."""

    nightly_at: time = Field(default=time(3), description="UTC time of day at which a nightly run is due.")
    plan_every: Duration = Field(
        default=timedelta(minutes=10), description="How often beat checks that the due run exists."
    )
    sweep_every: Duration = Field(
        default=timedelta(seconds=30), description="How often beat issues due tasks and publishes finished runs."
    )
    light_every: Duration = Field(
        default=timedelta(hours=8),
        description="Interval of availability samples between runs, plus or minus a quarter. 0: never.",
    )
    light_batch: int = Field(default=500, ge=1, le=20_000, description="Remotes per round of availability samples.")
    run_deadline: Duration = Field(
        default=timedelta(hours=20), description="A nightly run is published as it is after this long."
    )
    tail_wait: Duration = Field(
        default=timedelta(minutes=45),
        description="How long a nightly run with 99 % of its servers scored waits for the others.",
    )
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a transient failure (unreachable, timeout, rate limit) is tried again in the same run.",
    )
    retry_after: Duration = Field(
        default=timedelta(minutes=20), description="Delay before such a try, plus or minus a quarter."
    )
    local_retry_after: Duration = Field(
        default=timedelta(0), description="`hallmark run` tries transient failures once more after this long. 0: never."
    )
    host_window: Duration = Field(
        default=timedelta(hours=6),
        description="How long a run may use one host. Servers that do not fit take turns and keep their last evidence.",
    )
    visit_requests: float = Field(default=8.0, gt=0, description="Average requests per server and run.")
    night_spread: Duration = Field(
        default=timedelta(0), description="Hosts start at pseudo-random times within this long. 0: at once."
    )
    own_failure_bound: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Share of listings missing because of Hallmark above which a run is withheld.",
    )
    scoring_failure_bound: float = Field(
        default=0.01, ge=0, le=1, description="Share of servers that could not be scored above which a run is withheld."
    )
