"""Settings of probes: opt-outs, daily request budgets, and limits of re-tests."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, field_validator

from crawler.http.canaries import parse_canary
from workers.settings.nightly import Duration
from workers.settings.part import SettingsPart


class ProbeSettings(SettingsPart):
    """A part of `Settings`."""

    opt_outs: Path | None = Field(
        default=None,
        description="File of domains, hosts and servers that are never contacted, one per line. Entries of"
        " `hallmark opt-out` count too.",
    )
    canaries: tuple[str, ...] = Field(
        default=("github.com", "www.iana.org", "www.wikipedia.org"),
        description="JSON list of `HOST` or `HOST:PORT`. When a server does not answer and none of these accepts a"
        " connection either, this machine is offline. `[]`: never.",
    )
    server_requests: int = Field(default=300, ge=0, description="Requests per server and UTC day. 0: no bound.")
    host_requests: int = Field(default=40_000, ge=0, description="Requests per host and day. 0: no bound.")
    domain_requests: int = Field(default=100_000, ge=0, description="Requests per domain and day. 0: no bound.")
    retest_every: Duration = Field(default=timedelta(seconds=5), description="How often beat admits re-tests.")
    retest_cooldown: Duration = Field(
        default=timedelta(hours=1), description="Minimum time between two re-tests of one server."
    )
    retest_owner_cooldown: Duration = Field(
        default=timedelta(minutes=10), description="The same for its proven maintainer."
    )
    retests_per_client: int = Field(default=10, ge=1, description="Re-tests per client in 24 hours.")
    retests_at_once: int = Field(default=20, ge=1, le=1000, description="Re-tests under way at the same time.")
    full_probes_at_once: int = Field(
        default=2,
        ge=0,
        le=1000,
        description="Full probes after re-tests under way at the same time. 0: the next run makes them.",
    )
    retest_deadline: Duration = Field(
        default=timedelta(minutes=15), description="A re-test that has not ended after this long has failed."
    )

    @field_validator("canaries")
    @classmethod
    def _check_canaries(cls, canaries: tuple[str, ...]) -> tuple[str, ...]:
        for canary in canaries:
            parse_canary(canary)
        return canaries
