"""Scores one component of a weighted methodology on a scale of 0 to 10 from the outcomes of its checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Component
from scoring.results import arithmetic, weighting
from scoring.results.scorecard import ComponentScore, Line
from scoring.rubrics.check_results import (
    MAX_LINES,
    CheckResult,
    build_line,
    compute_failed_parts,
    evaluate_check,
    explain_unmeasured,
    list_findings,
)
from scoring.rubrics.line_folding import fold_lines


def score_component(component: Component, assessment: Assessment, *, dimension: str) -> ComponentScore:
    """Ten points less, for each check, its share of them times the share of checked things that failed.

    Checks with nothing to check give their weight to the other checks; without any measured check the component is
    NotMeasured. A thing that fails in part counts as that part.
    """
    results = [evaluate_check(check, assessment) for check in component.checks]
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
        result=weighting.compute_component_result(lines) if measured else explain_unmeasured(results),
        checked=sum(result.checked for result in measured if result.check.weight),
        lines=lines,
        floor=floor,
        ceiling=ceiling,
    )


def _compute_bounds(
    results: Sequence[CheckResult], charged: Sequence[tuple[CheckResult, tuple[Line, ...]]]
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


def _sum_weights(results: Iterable[CheckResult]) -> Decimal:
    return sum((result.check.weight for result in results), Decimal(0))


def _sum_points(lines: Iterable[Line]) -> Decimal:
    return sum((line.points for line in lines), Decimal(0))


def _normalize(value: Decimal) -> Decimal:
    return arithmetic.normalize_decimal(arithmetic.round_to_quantum(value))


def _lines(result: CheckResult, *, share: Decimal, cites: str) -> tuple[Line, ...]:
    found = list_findings(result)
    if not found:
        return ()
    failed = compute_failed_parts([finding for _, finding in found])
    total = sum(failed, Decimal(0))
    loss = arithmetic.round_to_quantum(weighting.FULL_POINTS * share * total / result.checked)
    parts = arithmetic.apportion_total(loss, failed) if loss else [Decimal(0)] * len(failed)
    lines = (
        build_line(criterion, finding, -part, cites) for (criterion, finding), part in zip(found, parts, strict=True)
    )
    return fold_lines(lines, MAX_LINES)
