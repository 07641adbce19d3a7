"""Scores one component of a weighted methodology on a scale of 0 to 10 from the outcomes of its checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from evidence.kinds import listing
from evidence.model import Reason
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Check, Component, Criterion
from scoring.results import arithmetic, weighting
from scoring.results.outcome import WHOLE_SHARE, Finding, Measured, NotMeasured, Outcome
from scoring.results.scorecard import ComponentScore, Line
from scoring.rubrics.line_folding import fold_lines

MAX_LINES: Final = 100
"""Findings of one check that get a line each; the other findings share one line."""
_NO_SUBJECT: Final = frozenset({Reason.NO_PACKAGE})
"""Reasons for which there is nothing to check, as opposed to evidence that could not be collected."""

NOTHING_TO_CHECK: Final = NotMeasured("nothing_to_check", "there is nothing of the kind that is checked")


@dataclass(frozen=True, slots=True)
class _CheckResult:
    """The outcomes of one check's criteria, the number of things checked, and whether the evidence is complete."""

    check: Check
    outcomes: tuple[Outcome, ...]
    checked: int
    complete: bool


def score_component(component: Component, assessment: Assessment, *, dimension: str) -> ComponentScore:
    """Ten points less, for each check, its share of them times the share of checked things that failed.

    Checks with nothing to check give their weight to the other checks; without any measured check the component is
    NotMeasured. A thing that fails in part counts as that part.
    """
    results = [_evaluate_check(check, assessment) for check in component.checks]
    measured = [result for result in results if result.checked]
    if all(result.check.supplementary for result in measured):
        measured = []
    total = _sum_weights(measured)
    cites = f"{dimension}.{component.name}"
    charged = [(result, _lines(result, share=result.check.weight / total, cites=cites)) for result in measured]
    floor, ceiling = _compute_bounds(results, charged)
    lines = tuple(line for _, part in charged for line in part)
    return ComponentScore(
        name=component.name,
        base_weight=component.weight,
        effective_weight=Decimal(0),
        result=weighting.compute_component_result(lines) if measured else _not_measured(results),
        checked=sum(result.checked for result in measured if result.check.weight),
        lines=lines,
        floor=floor,
        ceiling=ceiling,
    )


def _evaluate_check(check: Check, assessment: Assessment) -> _CheckResult:
    result = _read_outcomes(check, assessment)
    if result.checked or check.otherwise is None:
        return result
    other = _evaluate_check(check.otherwise, assessment)
    return replace(other, complete=result.complete and other.complete) if other.checked else result


def _read_outcomes(check: Check, assessment: Assessment) -> _CheckResult:
    outcomes = tuple([assessment.outcome(criterion.question) for criterion in check.criteria])
    checked, complete = 0, True
    for outcome in outcomes:
        if isinstance(outcome, NotMeasured):
            complete = complete and outcome.reason in _NO_SUBJECT
        else:
            checked = max(checked, outcome.checked)
            complete = complete and not outcome.skipped
    return _CheckResult(check, outcomes, checked, complete)


def _compute_bounds(
    results: Sequence[_CheckResult], charged: Sequence[tuple[_CheckResult, tuple[Line, ...]]]
) -> tuple[Decimal, Decimal]:
    """The component's result with every check on incomplete evidence at 0, and at full.

    A check that found nothing to check in complete evidence counts for neither bound. Without any measured check the
    bounds are 0 and full.
    """
    if not charged:
        return Decimal(0), weighting.FULL_POINTS
    measured = _sum_weights(result for result, _ in charged)
    certain = [(result.check.weight, lines) for result, lines in charged if result.complete]
    uncertain = _sum_weights(result for result in results if not result.complete)
    points = (weight * weighting.FULL_POINTS + measured * _sum_points(lines) for weight, lines in certain)
    kept = sum(points, Decimal(0))
    total = sum((weight for weight, _ in certain), uncertain)
    floor = _normalize(kept / total)
    return floor, _normalize((kept + uncertain * weighting.FULL_POINTS) / total) if uncertain else floor


def _sum_weights(results: Iterable[_CheckResult]) -> Decimal:
    return sum((result.check.weight for result in results), Decimal(0))


def _sum_points(lines: Iterable[Line]) -> Decimal:
    return sum((line.points for line in lines), Decimal(0))


def _normalize(value: Decimal) -> Decimal:
    return arithmetic.normalize_decimal(arithmetic.round_to_quantum(value))


def _not_measured(results: Iterable[_CheckResult]) -> NotMeasured:
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


def _lines(result: _CheckResult, *, share: Decimal, cites: str) -> tuple[Line, ...]:
    found = _findings(result)
    if not found:
        return ()
    failed = _failed_parts([finding for _, finding in found])
    total = sum(failed, Decimal(0))
    loss = arithmetic.round_to_quantum(weighting.FULL_POINTS * share * total / result.checked)
    parts = arithmetic.apportion_total(loss, failed) if loss else [Decimal(0)] * len(failed)
    lines = (_line(criterion, finding, -part, cites) for (criterion, finding), part in zip(found, parts, strict=True))
    return fold_lines(lines, MAX_LINES)


def _failed_parts(findings: Sequence[Finding]) -> list[Decimal]:
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


def _findings(result: _CheckResult) -> list[tuple[Criterion, Finding]]:
    """The findings of a check with their criteria, in the order of the evidence."""
    found = [
        (criterion, finding)
        for criterion, outcome in zip(result.check.criteria, result.outcomes, strict=True)
        if isinstance(outcome, Measured)
        for finding in outcome.findings
    ]
    return sorted(found, key=lambda pair: pair[1].position)


def _line(criterion: Criterion, finding: Finding, points: Decimal, cites: str) -> Line:
    return Line(
        cites=cites,
        points=points,
        why=finding.message,
        rule=finding.rule,
        at=finding.at,
        severity=criterion.severity.value,
        evidence=finding.evidence,
    )
