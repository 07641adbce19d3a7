"""Verdicts of all protocol checks for one server, for pages, JSON and CI reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from evidence.kinds import exchanges
from evidence.kinds.exchanges import Exchanges
from evidence.model import Absent, Dossier
from scoring.engine.assessment import Assessment
from scoring.protocol import conformance
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Finding


class CheckSection(Struct, frozen=True):
    """One part of the table of checks."""

    title: str
    results: tuple[CheckResult, ...]

    def with_verdict(self, *verdicts: Verdict) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.results if result.verdict in verdicts)


class CheckVerdicts(Struct, frozen=True):
    """All verdicts about one server. `depth` is `core` or `full`, `eras` those in which it opened; empty if neither."""

    depth: str
    eras: tuple[str, ...]
    requests: int
    absent: Absent | None
    sections: tuple[CheckSection, ...]

    @property
    def results(self) -> tuple[CheckResult, ...]:
        return tuple(result for section in self.sections for result in section.results)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many checks ended with each verdict."""
        found = Counter(result.verdict for result in self.results)
        return {verdict: found[verdict] for verdict in Verdict}


def judge_checks(assessment: Assessment) -> CheckVerdicts:
    """The verdicts for an assessed server; the assessment must contain the questions of all checks.

    Those that do not apply have a reason too.
    """
    results = [conformance.explain_result(one, assessment) for one in conformance.evaluate_checks(assessment)]
    sections = tuple(
        CheckSection(title, tuple(result for result in results if result.check.section == title))
        for title in conformance.SECTIONS
    )
    depth, eras, requests = _talk(assessment.dossier)
    content = assessment.dossier.read(exchanges.KIND)
    return CheckVerdicts(depth, eras, requests, content if isinstance(content, Absent) else None, sections)


def verdicts_as_json(found: CheckVerdicts) -> dict[str, Any]:
    """The verdicts as one JSON object, described in `publish.scan_reports.schema`."""
    absent = found.absent
    return {
        "depth": found.depth or None,
        "eras": list(found.eras),
        "requests": found.requests,
        "absent": {"reason": absent.reason.value, "detail": absent.detail} if absent else None,
        "counts": {verdict.value: count for verdict, count in found.counts.items()},
        "checks": [_check(section.title, result) for section in found.sections for result in section.results],
    }


def _check(section: str, result: CheckResult) -> dict[str, Any]:
    requirement = result.check.requirement
    return {
        "id": requirement.id,
        "section": section,
        "level": requirement.level.value,
        "revisions": [exchanges.REVISIONS[letter] for letter in requirement.revisions],
        "title": result.check.rule.title,
        "rule": result.check.rule.id,
        "spec": requirement.link,
        "verdict": result.verdict.value,
        "why": result.why or _first_message(result.findings),
        "findings": [
            {"at": finding.at, "message": finding.message, "tolerated": finding.tolerated}
            for finding in result.findings
        ],
    }


def _first_message(findings: Sequence[Finding]) -> str:
    """The first message of a deviation that is not tolerated, else the first one."""
    return next((one.message for one in sorted(findings, key=lambda one: one.tolerated)), "")


def _talk(dossier: Dossier) -> tuple[str, tuple[str, ...], int]:
    content = dossier.read(exchanges.KIND)
    if isinstance(content, Absent):
        return "", (), 0
    talk = Exchanges.parse(content.body)
    return talk.depth, tuple(sorted(talk.eras)), len(talk.exchanges)
