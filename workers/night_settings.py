"""The settings of nights: when they are due, how they are laid out over servers and hosts, and when they end."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings


def _seconds(value: object) -> object:
    """A number written as text is seconds; pydantic reads everything else (`PT10M`, `01:00:00`)."""
    try:
        return timedelta(seconds=float(value)) if isinstance(value, str) else value
    except ValueError:
        return value


Duration: TypeAlias = Annotated[timedelta, BeforeValidator(_seconds)]


class NightSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    nightly_at: time = Field(default=time(3), description="UTC time of day at which a nightly run is due.")
    plan_every: Duration = Field(
        default=timedelta(minutes=10),
        description="How often beat asks whether the run that is due exists. Extra questions are harmless.",
    )
    sweep_every: Duration = Field(
        default=timedelta(seconds=30),
        description="How often beat issues tasks for servers that are due, and publishes what is done.",
    )
    light_every: Duration = Field(
        default=timedelta(hours=8),
        description="How often a remote is connected to between nights, give or take a quarter. 0: never.",
    )
    light_batch: int = Field(
        default=500,
        ge=1,
        le=20_000,
        description="Remotes connected to in one round of light checks; beat asks for one as often as for a plan.",
    )
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
        description="How often a server that failed in passing (unreachable, time out, refused by a rate limit) is "
        "looked at again in the same night before that is what the night says of it.",
    )
    retry_after: Duration = Field(
        default=timedelta(minutes=20), description="How long before it is, give or take a quarter."
    )
    local_retry_after: Duration = Field(
        default=timedelta(0),
        description="`hallmark run` looks once more, after this long, at servers that failed in passing. 0: never.",
    )
    host_window: Duration = Field(
        default=timedelta(hours=6),
        description="How long a night may be busy with one host. Of a host with more servers than fit, those that were "
        "not looked at for longest have their turn, and the others keep their last evidence with its age.",
    )
    visit_requests: float = Field(
        default=8.0,
        gt=0,
        description="Requests that a server takes in a night on average: a core probe 5.4 as measured, and a seventh "
        "of a weekly full one.",
    )
    night_spread: Duration = Field(
        default=timedelta(0),
        description="The hosts of a night have their first turn at pseudo-random times within this long. 0: as soon as "
        "there is a worker.",
    )
    own_failure_bound: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Share of the servers whose listing is missing through a failure of ours, above which a night is "
        "withheld.",
    )
    scoring_failure_bound: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="Share of the servers that could not be scored, which is a failure of ours, above which a night is "
        "withheld.",
    )
