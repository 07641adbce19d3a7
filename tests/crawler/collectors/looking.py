"""How these tests look at access: the door is knocked at without credentials, and then looked at as a visit would."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from crawler.collectors.protocol.access import AccessLimits, look_at_access
from crawler.collectors.protocol.access_knocking import Knocker
from crawler.courtesy import Courtesy
from crawler.credentials import Credential
from crawler.wire.address import parse_url
from crawler.wire.guard import Guard
from crawler.wire.http import Engine
from crawler.wire.resolve import Resolver
from evidence.canonical import Json
from evidence.kinds.access import Access
from evidence.model import Absent, Observed, Target, TargetType
from scoring import access_scope
from scoring.assess import ask
from scoring.outcome import Inapplicable, Undecided
from scoring.rule import discover
from tests.crawler.collectors.probing import AGENT, BRISK, WIRE, Timekeeper
from tests.servers.hostile import Behaviour, serving

RULES = {check.id: rule for rule in discover("scoring.rules.authorization").values() for check in rule.checks}


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
            findings = ask(RULES[check], access_scope.Access(at="access", seen=self.access))
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
    engine = Engine(
        user_agent=AGENT,
        guard=Guard(allow_private=private),
        resolver=resolver,
        limits=BRISK if brisk else WIRE,
    )
    courtesy = Courtesy(tick=hand.tick, sleep=hand.sleep)
    async with engine.visit(seconds=30) as visit:
        own = await visit.is_private(parse_url(target.identifier).origin)
        knocker = Knocker(visit, target, courtesy, gapless=own, client_version="0")
        asked = await knocker.bare(over_sse=target.type is TargetType.SSE)
        content, observation = await look_at_access(
            visit,
            target,
            asked,
            courtesy=courtesy,
            gapless=own,
            client_version="0",
            credential=credential,
            limits=limits,
        )
    return Looked(content, observation)


def looked_at(
    behaviour: Behaviour, kind: TargetType = TargetType.STREAMABLE_HTTP, query: str = "", **options: object
) -> Looked:
    """A look at one server that is served for it."""

    async def run() -> Looked:
        async with serving(behaviour) as url:
            return await look(Target(type=kind, identifier=url + query), **options)  # type: ignore[arg-type]

    return asyncio.run(run())
