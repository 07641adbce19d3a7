"""The settings of visits: whom nobody looks at, how many requests a day may cost, and when a server is re-tested."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings

from workers.night_settings import Duration


class VisitSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    opt_outs: Path | None = Field(
        default=None,
        description="File of domains, hosts and servers that nobody looks at, one on each line. See the guide on "
        "courtesy. Those of `hallmark opt-out` count as well.",
    )
    server_requests: int = Field(
        default=300,
        ge=0,
        description="Requests that one server may get in a day (UTC), everything included. Above it, it is left alone "
        "until the next day. 0: no bound.",
    )
    host_requests: int = Field(
        default=40_000,
        ge=0,
        description="Requests that one host may get in a day, for all of its servers together. 0: no bound.",
    )
    domain_requests: int = Field(
        default=100_000,
        ge=0,
        description="Requests that all hosts of one domain may get in a day. 0: no bound.",
    )
    retest_every: Duration = Field(
        default=timedelta(seconds=5), description="How often beat looks for re-tests whose time has come."
    )
    retest_cooldown: Duration = Field(
        default=timedelta(hours=1), description="Least time between two re-tests of one server."
    )
    retest_owner_cooldown: Duration = Field(
        default=timedelta(minutes=10), description="The same where the one who asks has proven to control the server."
    )
    retests_per_client: int = Field(
        default=10, ge=1, description="Re-tests that one client may ask for in 24 hours, of any servers."
    )
    retests_at_once: int = Field(
        default=20, ge=1, le=1000, description="Re-tests that are under way at the same time; others wait."
    )
    full_probes_at_once: int = Field(
        default=2,
        ge=0,
        le=1000,
        description="Full probes that follow on re-tests, under way at the same time while no night waits for the same "
        "workers. 0: the next night makes them.",
    )
    retest_deadline: Duration = Field(
        default=timedelta(minutes=15),
        description="A re-test that has not ended after this long is given up. That is our failure and says nothing "
        "about the server.",
    )
