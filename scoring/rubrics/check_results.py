"""Results of the checks of a weighted methodology: what each one examined, what it found, and what it left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Reason
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Check, Criterion
from scoring.results.outcome import WHOLE_SHARE, Finding, Measured, NotMeasured, Outcome
from scoring.results.scorecard import Line
from scoring.scopes.conversation import LEFT_OUT

MAX_LINES: Final = 100
"""Findings of one check that get a line each; the other findings share one line."""

HasSubject: TypeAlias = Callable[[Criterion, NotMeasured], bool]
"""Whether evidence that is missing could exist, as opposed to evidence that this server cannot have."""

NOTHING_TO_CHECK: Final = NotMeasured("nothing_to_check", "the server has nothing that this check examines")


class CheckResult(Struct, frozen=True):
    """The outcomes of one check's criteria, the number of things checked, and whether the evidence is complete.

    Questions that we leave out, so that no server falls, cost it nothing: the fall is what costs.
    """

    check: Check
    outcomes: tuple[Outcome, ...]
    checked: int
    complete: bool


WITHOUT_PACKAGE: Final = frozenset({Reason.NO_PACKAGE, Reason.NO_VERSION})


def has_package(_: Criterion, missing: NotMeasured) -> bool:
    """False for a server without a package, or without the version that it declares."""
    return missing.reason not in WITHOUT_PACKAGE


def evaluate_check(check: Check, assessment: Assessment, *, has_subject: HasSubject = has_package) -> CheckResult:
    """The result of a check, or of its replacement when it has nothing to check."""
    result = _read_outcomes(check, assessment, has_subject)
    if result.checked or check.otherwise is None:
        return result
    other = evaluate_check(check.otherwise, assessment, has_subject=has_subject)
    return replace(other, complete=result.complete and other.complete) if other.checked else result


def _read_outcomes(check: Check, assessment: Assessment, has_subject: HasSubject) -> CheckResult:
    outcomes: list[Outcome] = []
    checked, complete = 0, True
    for criterion in check.criteria:
        outcome = assessment.outcome(criterion.question)
        outcomes.append(outcome)
        if isinstance(outcome, NotMeasured):
            complete = complete and not has_subject(criterion, outcome)
        else:
            checked = max(checked, outcome.checked)
            complete = complete and all(skip.reason == LEFT_OUT for skip in outcome.skipped)
    return CheckResult(check, tuple(outcomes), checked, complete)


def explain_unmeasured(results: Iterable[CheckResult]) -> NotMeasured:
    """The first reason why no check was measured; "not collected" counts only when there is no other reason."""
    outcomes = [outcome for result in results for outcome in result.outcomes]
    missing = [outcome for outcome in outcomes if isinstance(outcome, NotMeasured)]
    tried = [outcome for outcome in missing if outcome.reason != Reason.NOT_COLLECTED]
    if tried:
        return tried[0]
    skipped = [skip for outcome in outcomes if isinstance(outcome, Measured) for skip in outcome.skipped]
    if skipped:
        reason = "list_failed" if skipped[0].at in listing.LISTS else "inconclusive"
        return NotMeasured(reason, f"{skipped[0].at}: {skipped[0].reason}")
    return missing[0] if missing else NOTHING_TO_CHECK


def compute_failed_parts(findings: Sequence[Finding]) -> list[Decimal]:
    """The part of its thing that each finding costs: the first finding with the whole share costs all of it.

    Without such a finding each costs its share; shares that sum to more than 1 are scaled down to sum to 1.
    """
    parts = [Decimal(0)] * len(findings)
    whole: set[tuple[int, ...]] = set()
    shares: dict[tuple[int, ...], list[int]] = {}
    for index, finding in enumerate(findings):
        if finding.tolerated or finding.position in whole:
            continue
        if finding.share is WHOLE_SHARE or finding.share >= WHOLE_SHARE:
            whole.add(finding.position)
            parts[index] = WHOLE_SHARE
        else:
            shares.setdefault(finding.position, []).append(index)
    for position, indices in shares.items():
        if position not in whole:
            total = max(WHOLE_SHARE, sum((findings[index].share for index in indices), Decimal(0)))
            for index in indices:
                parts[index] = findings[index].share / total
    return parts


def list_findings(result: CheckResult) -> list[tuple[Criterion, Finding]]:
    """The findings of a check with their criteria, in the order of the evidence."""
    found = [
        (criterion, finding)
        for criterion, outcome in zip(result.check.criteria, result.outcomes, strict=True)
        if isinstance(outcome, Measured)
        for finding in outcome.findings
    ]
    return sorted(found, key=lambda pair: pair[1].position)


def build_line(criterion: Criterion, finding: Finding, points: Decimal, cites: str, *, checked: int = 0) -> Line:
    return Line(
        cites=cites,
        points=points,
        why=finding.message,
        rule=finding.rule,
        at=finding.at,
        severity=criterion.severity_word,
        evidence=finding.evidence,
        checked=checked,
    )
