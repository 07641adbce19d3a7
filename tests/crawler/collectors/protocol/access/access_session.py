"""Probes access for tests: first unauthenticated requests, then the access collector, as a run does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from crawler.collectors.protocol.access.access_probe import collect_access
from crawler.collectors.protocol.access.authorization_metadata import AccessLimits
from crawler.collectors.protocol.access.unauthenticated_requests import UnauthenticatedRequests
from crawler.http.address_guard import AddressGuard
from crawler.http.credentials import Credential
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.resolver import Resolver
from crawler.http.url import parse_url
from evidence.canonical import Json
from evidence.kinds.access import Access
from evidence.model import Absent, Observed, Target, TargetType
from scoring.engine.assess import ask_rule
from scoring.engine.rule import discover_rules
from scoring.results.outcome import Inapplicable, Undecided
from scoring.scopes import server_access
from tests.crawler.collectors.protocol.probing import AGENT, BRISK, WIRE, Timekeeper
from tests.servers.hostile import Behaviour, serving

RULES = {check.id: rule for rule in discover_rules("scoring.rules.authorization").values() for check in rule.checks}


@dataclass(frozen=True)
class Looked:
    """What came of one look."""

    content: Observed | Absent
    observation: Mapping[str, Json]

    @property
    def access(self) -> Access:
        assert isinstance(self.content, Observed), self.content
        return Access.parse(self.content.body)

    @property
    def verdicts(self) -> dict[str, str]:
        """A verdict per check: pass, fail, warn, or why there is none."""
        return {check: self._verdict(check) for check in sorted(RULES)}

    def _verdict(self, check: str) -> str:
        try:
            findings = ask_rule(RULES[check], server_access.Access(at="access", seen=self.access))
        except Inapplicable:
            return "not_applicable"
        except Undecided:
            return "inconclusive"
        if not findings:
            return "pass"
        return "warn" if all(finding.tolerated for finding in findings) else "fail"

    def failed(self) -> set[str]:
        """The checks that fail."""
        return {check for check, verdict in self.verdicts.items() if verdict == "fail"}


async def look(
    target: Target,
    *,
    credential: Credential | None = None,
    resolver: Resolver | None = None,
    private: bool = True,
    brisk: bool = False,
    limits: AccessLimits | None = None,
    time: Timekeeper | None = None,
) -> Looked:
    hand = time or Timekeeper()
    engine = HttpEngine(
        user_agent=AGENT,
        guard=AddressGuard(allow_private=private),
        resolver=resolver,
        limits=BRISK if brisk else WIRE,
    )
    courtesy = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
    async with engine.open_session(seconds=30) as visit:
        own = await visit.is_private(parse_url(target.identifier).origin)
        knocker = UnauthenticatedRequests(visit, target, courtesy, gapless=own, client_version="0")
        asked = await knocker.ask_without_credentials(over_sse=target.type is TargetType.SSE)
        content, observation = await collect_access(
            visit,
            target,
            asked,
            limiter=courtesy,
            gapless=own,
            client_version="0",
            credential=credential,
            limits=limits,
        )
    return Looked(content, observation)


def probe_access(
    behaviour: Behaviour, kind: TargetType = TargetType.STREAMABLE_HTTP, query: str = "", **options: object
) -> Looked:
    """Serve one server and probe its access."""

    async def run() -> Looked:
        async with serving(behaviour) as url:
            return await look(Target(type=kind, identifier=url + query), **options)  # type: ignore[arg-type]

    return asyncio.run(run())
