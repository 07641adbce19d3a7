"""What the product does to a server at each depth: the light check, a core probe and a full probe."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from crawler.collectors.protocol import ProbeLimits, ProtocolCollector
from crawler.collectors.protocol.probes.probe import ProbeDependencies
from crawler.collectors.protocol.samples.availability_sample import AvailabilitySampler
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, HttpSession
from crawler.http.rate_limiting import HostRateLimiter
from evidence.model import Absent, Dossier, Server, Target
from tests.crawler.collectors.launching import PipeLauncher
from tests.crawler.collectors.protocol.probing import AGENT, NOW, Timekeeper

LIGHT, CORE, FULL = "light", "core", "full"
DEPTHS = (LIGHT, CORE, FULL)

_LIMITS = ProbeLimits(retry_pause=0)
_WIRE = Limits(connect=10, first_byte=20, between_bytes=10, total=30)


@dataclass(frozen=True, slots=True)
class Probed:
    """The number of requests that the server got, and why it could not be listed, if so."""

    requests: int
    failure: str


class _CountingEngine(HttpEngine):
    """Remembers its sessions, which count their requests."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.sessions: list[HttpSession] = []

    def open_session(self, **more: Any) -> HttpSession:
        self.sessions.append(super().open_session(**more))
        return self.sessions[-1]


def probe(target: Target, depth: str) -> Probed:
    """Probe a target as the product does it, without pauses."""
    return asyncio.run(_probe(target, depth))


async def _probe(target: Target, depth: str) -> Probed:
    engine = _CountingEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=_WIRE)
    hand = Timekeeper()
    limiter = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
    if depth == LIGHT:
        dependencies = ProbeDependencies(limiter=limiter, clock=lambda: NOW, limits=_LIMITS, client_version="0")
        sample = await AvailabilitySampler(engine, dependencies).sample(target)
        failure = sample.failure if sample else "no sample"
    else:
        collector = ProtocolCollector(engine, PipeLauncher(), limiter, lambda: NOW, _LIMITS, depth=depth)
        server = Server(ref="matrix", name="matrix", targets=(target,))
        records = await collector.collect(server, Dossier(server=server, as_of=NOW))
        listing = next(one for one in records if one.kind == "listing").content
        failure = f"{listing.reason.value}: {listing.detail}" if isinstance(listing, Absent) else ""
        if not engine.sessions:
            requests = next(one for one in records if one.kind == "listing").observation.get("requests", 0)
            return Probed(int(str(requests)), failure)
    return Probed(sum(session.requests for session in engine.sessions), str(failure or ""))
