"""The checks of the protocol: their requirements and the verdicts for one server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache, cached_property
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.model import Reason
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rubric import Criterion
from scoring.engine.rule import Requirement, Rule, discover_rules
from scoring.engine.walk import Pages
from scoring.results.outcome import Finding, Inapplicable, Level, Measured, NotMeasured, Undecided

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Transport, streamable HTTP": ("HTTP", "HTTPM", "STRM", "SESSL"),
    "Sessions": ("SESS",),
    "Lifecycle and versions": ("LIFE", "PING", "DISC", "VER", "INIT", "META", "RT", "EXT", "ERA"),
    "Headers of the modern era": ("HDR", "METH"),
    "JSON-RPC": ("JSON", "ERR", "SCHEMA"),
    "Capabilities and lists": ("CAP", "PAGE", "CACHE", "TOOL", "CALL", "ICON", "RES", "PROMPT", "LOG", "MRTR", "SUB"),
    "Authorization": ("AUTH",),
    "stdio and HTTP+SSE": ("IO", "SSE", "DEP"),
    "Beyond the specification": ("INTEROP",),
}
"""Sections of the table of checks with the prefixes of their ids; the last section is ours and has no requirements."""

_ORDER: Final = {prefix: place for place, prefix in enumerate(chain(*SECTIONS.values()))}


_OTHER_REVISION: Final = "not in the revision of the server"
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Verdict(StrEnum):
    """The result of a check. `warn`: a violated SHOULD or a tolerated deviation."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    WARN = "warn"
    NOT_APPLICABLE = "not_applicable"
    INCONCLUSIVE = "inconclusive"


class ConformanceCheck(Struct, frozen=True, dict=True):
    """One requirement and the rule that judges it."""

    requirement: Requirement
    rule: Rule

    @property
    def prefix(self) -> str:
        """The prefix of the check's id, such as `HTTP`."""
        return self.requirement.id.partition("-")[0]

    @property
    def section(self) -> str:
        """The title of the check's section in SECTIONS."""
        return next(title for title, prefixes in SECTIONS.items() if self.prefix in prefixes)

    @cached_property
    def criterion(self) -> Criterion:
        return Criterion(
            cites=self.requirement.id, rule=self.rule.id, severity=self.rule.severity, params=self.requirement.params
        )

    @property
    def question(self) -> Question:
        return self.criterion.question


class CheckResult(Struct, frozen=True):
    """The verdict of one check for one server. `why` is the reason when it is inconclusive.

    `explain_result` adds the reason when it is not applicable.
    """

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
    return tuple(evaluate_check(check, assessment) for check in list_checks())


def evaluate_check(check: ConformanceCheck, assessment: Assessment) -> CheckResult:
    """The verdict of one check. One that found nothing in a part of the evidence is inconclusive, not passed."""
    outcome = assessment.outcome(check.question)
    if isinstance(outcome, NotMeasured):
        elsewhere = outcome.reason == Reason.TRANSPORT_UNSUPPORTED  # such as access over stdio
        return CheckResult(check, Verdict.NOT_APPLICABLE if elsewhere else Verdict.INCONCLUSIVE, why=outcome.reason)
    verdict = _verdict(check.requirement.level, outcome)
    if outcome.skipped and verdict in {Verdict.NOT_APPLICABLE, Verdict.PASS}:
        return CheckResult(check, Verdict.INCONCLUSIVE, why=outcome.skipped[0].reason)
    return CheckResult(check, verdict, outcome.findings)


def explain_result(result: CheckResult, assessment: Assessment) -> CheckResult:
    """The result, with a reason in a few stable words where the check does not apply: its rule is asked again."""
    if result.why or result.verdict is not Verdict.NOT_APPLICABLE:
        return result
    return replace(result, why=_explain_inapplicable(result.check, assessment))


def _explain_inapplicable(check: ConformanceCheck, assessment: Assessment) -> str:
    walk = assessment.walks[Pages.ALL]
    things = walk.list_things(check.rule.scope)
    for thing in things:
        try:
            for _ in check.rule(thing, **check.requirement.params):
                break
        except Inapplicable as reason:
            return str(reason)
        except Undecided:
            continue
    return _OTHER_REVISION if things else f"there is no {_CAPITAL.sub(' ', check.rule.scope.__name__).lower()}"


def _verdict(level: Level, outcome: Measured) -> Verdict:
    if not outcome.findings:
        return Verdict.PASS if outcome.checked else Verdict.NOT_APPLICABLE
    failed = any(not finding.tolerated for finding in outcome.findings)
    return Verdict.FAIL if failed and level is Level.MUST else Verdict.WARN
