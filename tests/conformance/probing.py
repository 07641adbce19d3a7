"""A full probe of one target and the verdict of every check about it, as these tests look at servers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from crawler.collectors.protocol import ProbeLimits, ProtocolCollector
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import Launcher
from evidence.kinds.exchanges import Exchange, Exchanges
from evidence.kinds.listing import Listing
from evidence.model import Dossier, Observed, Record, Server, Target
from scoring.engine.assess import assess_dossier
from scoring.protocol.conformance import CheckResult, Verdict, evaluate_checks
from scoring.results.outcome import Level
from tests.crawler.collectors.launching import PipeLauncher
from tests.crawler.collectors.protocol.probing import AGENT, NOW, Timekeeper

PATIENT = Limits(connect=10, first_byte=20, between_bytes=10, total=30)
LIMITS = ProbeLimits(discover=20, total=120, stdio_answer=20, retry_pause=0)


@dataclass(frozen=True, slots=True)
class Probed:
    """All records of one full probe."""

    dossier: Dossier

    def verdicts(self) -> Mapping[str, CheckResult]:
        """Every check by id."""
        return {one.check.requirement.id: one for one in evaluate_checks(assess_dossier(self.dossier))}

    def failed(self) -> Mapping[str, str]:
        """The MUST checks that fail, with what is wrong."""
        return {
            name: "; ".join(f"{finding.at}: {finding.message}" for finding in one.findings)
            for name, one in self.verdicts().items()
            if one.verdict is Verdict.FAIL and one.check.requirement.level is Level.MUST
        }

    def with_verdict(self, verdict: Verdict) -> list[str]:
        """Ids of the checks with this verdict."""
        return [name for name, one in self.verdicts().items() if one.verdict is verdict]

    @property
    def listing(self) -> Record:
        """The listing record."""
        return self.dossier.records["listing"]

    def talk(self) -> tuple[Exchange, ...]:
        """Everything that was asked; nothing when the server did not open."""
        record = self.dossier.records["exchanges"]
        if not isinstance(record.content, Observed):
            return ()
        listed = self.listing.content
        known = Listing.parse(listed.body) if isinstance(listed, Observed) else None
        return Exchanges.parse(record.content.body, known).exchanges


def prober(
    *,
    limits: Limits = PATIENT,
    probe: ProbeLimits = LIMITS,
    launcher: Launcher | None = None,
    depth: str = "full",
    policy: CallPolicy = CallPolicy.OFF,
) -> ProtocolCollector:
    """A collector that asks everything, pauses nowhere and calls only the tools that a policy allows."""
    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=limits)
    hand = Timekeeper()
    courtesy = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
    return ProtocolCollector(
        engine, launcher or PipeLauncher(), courtesy, lambda: NOW, probe, depth=depth, policy=policy
    )


async def look(collector: ProtocolCollector, target: Target) -> Probed:
    """Probe one target."""
    server = Server(ref="test", name="test", targets=(target,))
    records = await collector.collect(server, Dossier(server=server, as_of=NOW))
    return Probed(Dossier(server=server, as_of=NOW, records={record.kind: record for record in records}))


def probed(target: Target) -> Probed:
    """Probe one target, from code that is not asynchronous."""
    return asyncio.run(look(prober(), target))
