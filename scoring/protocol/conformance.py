"""The checks of the protocol, one by one: what each requires and how one server did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from itertools import chain
from typing import Final

from evidence.model import Reason
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rubric import Criterion
from scoring.engine.rule import Requirement, Rule, discover_rules
from scoring.results.outcome import Finding, Level, Measured, NotMeasured

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Transport, streamable HTTP": ("HTTP", "HTTPM", "STRM", "SESSL"),
    "Sessions": ("SESS",),
    "Lifecycle and versions": ("LIFE", "PING", "DISC", "VER", "INIT", "META", "RT", "EXT", "ERA"),
    "Headers of the modern era": ("HDR", "METH"),
    "JSON-RPC": ("JSON", "ERR", "SCHEMA"),
    "Capabilities and lists": ("CAP", "PAGE", "CACHE", "TOOL", "RES", "PROMPT", "LOG", "MRTR", "SUB"),
    "Authorization": ("AUTH",),
    "stdio and HTTP+SSE": ("IO", "SSE", "DEP"),
    "Beyond the specification": ("INTEROP",),
}
"""Parts of the table of checks, with what their ids begin with; the last is ours and requires nothing."""

_ORDER: Final = {prefix: place for place, prefix in enumerate(chain(*SECTIONS.values()))}


class Verdict(StrEnum):
    """How a check ended. `warn`: a SHOULD that is not kept, or a deviation that practice tolerates."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    WARN = "warn"
    NOT_APPLICABLE = "not_applicable"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class ConformanceCheck:
    """One requirement and the rule that judges it."""

    requirement: Requirement
    rule: Rule

    @property
    def prefix(self) -> str:
        """What its id begins with, such as `HTTP`."""
        return self.requirement.id.partition("-")[0]

    @property
    def section(self) -> str:
        """The section of the table that it belongs to."""
        return next(title for title, prefixes in SECTIONS.items() if self.prefix in prefixes)

    @cached_property
    def criterion(self) -> Criterion:
        """The check as a rubric cites it."""
        return Criterion(
            cites=self.requirement.id, rule=self.rule.id, severity=self.rule.severity, params=self.requirement.params
        )

    @property
    def question(self) -> Question:
        """What is asked of the evidence."""
        return self.criterion.question


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one server did in one check. `why` says why it is inconclusive; `findings` are what is wrong."""

    check: ConformanceCheck
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    why: str = ""


@cache
def list_checks() -> tuple[ConformanceCheck, ...]:
    """Every check in the order of the table: by section, then by id."""
    found = (ConformanceCheck(requirement, rule) for rule in discover_rules().values() for requirement in rule.checks)
    return tuple(sorted(found, key=lambda check: (_ORDER[check.prefix], check.requirement.id)))


def evaluate_checks(assessment: Assessment) -> tuple[CheckResult, ...]:
    """The verdict of every check about one server."""
    return tuple(_checked(check, assessment) for check in list_checks())


def _checked(check: ConformanceCheck, assessment: Assessment) -> CheckResult:
    outcome = assessment.outcome(check.question)
    if isinstance(outcome, NotMeasured):
        elsewhere = outcome.reason == Reason.TRANSPORT_UNSUPPORTED  # such as access over stdio
        return CheckResult(check, Verdict.NOT_APPLICABLE if elsewhere else Verdict.INCONCLUSIVE, why=outcome.reason)
    if not outcome.checked:
        why = next(iter(outcome.skipped), None)
        return CheckResult(
            check, Verdict.INCONCLUSIVE if why else Verdict.NOT_APPLICABLE, why=why.reason if why else ""
        )
    return CheckResult(check, _verdict(check.requirement.level, outcome), outcome.findings)


def _verdict(level: Level, outcome: Measured) -> Verdict:
    if not outcome.findings:
        return Verdict.PASS
    failed = any(not finding.tolerated for finding in outcome.findings)
    return Verdict.FAIL if failed and level is Level.MUST else Verdict.WARN
