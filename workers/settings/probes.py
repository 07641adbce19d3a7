"""Settings of probes: opt-outs, daily request budgets, and limits of re-tests."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from crawler.http.canaries import parse_canary
from workers.settings.fleet import FleetSettings
from workers.settings.reading import read_list


def _read_canaries(value: object) -> tuple[str, ...]:
    canaries = read_list(value)
    for canary in canaries:
        parse_canary(canary)
    return canaries


class ProbeSettings(FleetSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    opt_outs: Annotated[
        Path | None,
        "File of domains, hosts and servers that are never contacted, one per line. Entries of"
        " `hallmark opt-out` count too.",
    ] = None
    canaries: Annotated[
        tuple[str, ...],
        _read_canaries,
        "JSON list of `HOST` or `HOST:PORT`. When a server does not answer and none of these accepts a"
        " connection either, this machine is offline. `[]`: never.",
    ] = ("github.com", "www.iana.org", "www.wikipedia.org")
    server_requests: Annotated[int, Meta(ge=0), "Requests per server and UTC day. 0: no bound."] = 300
    host_requests: Annotated[int, Meta(ge=0), "Requests per host and day. 0: no bound."] = 40_000
    domain_requests: Annotated[int, Meta(ge=0), "Requests per domain and day. 0: no bound."] = 100_000
    retest_every: Annotated[timedelta, "How often beat admits re-tests."] = timedelta(seconds=5)
    retest_cooldown: Annotated[timedelta, "Time between two re-tests of one server."] = timedelta(hours=1)
    retest_owner_cooldown: Annotated[timedelta, "The same for its proven maintainer."] = timedelta(minutes=10)
    retests_per_client: Annotated[int, Meta(ge=1), "Re-tests per client in 24 hours."] = 10
    retests_at_once: Annotated[int, Meta(ge=1, le=1000), "Re-tests at the same time."] = 20
    full_probes_at_once: Annotated[
        int, Meta(ge=0, le=1000), "Full probes after re-tests at the same time. 0: the next run makes them."
    ] = 2
    retest_deadline: Annotated[timedelta, "A re-test that has not ended after this long has failed."] = timedelta(
        minutes=15
    )
