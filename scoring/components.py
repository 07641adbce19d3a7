"""One component of a weighted methodology: what its checks found, as points on a scale of 0 to 10."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from evidence.model import Reason
from scoring import arithmetic, weighing
from scoring.assessment import Assessment
from scoring.folding import fold
from scoring.outcome import Finding, Measured, NotMeasured
from scoring.rubric import Check, Component, Criterion
from scoring.scorecard import ComponentScore, Line

MAX_LINES: Final = 100
"""Findings of one check that get a line each; the rest share one line."""


def score_component(component: Component, assessment: Assessment, *, dimension: str) -> ComponentScore:
    """Ten points less, for each check, its share of them times the share of checked things that did not pass.

    Checks that had nothing to look at share their weight among the others; when none could look, NotMeasured.
    """
    looked = [(check, checked) for check in component.checks if (checked := _checked(check, assessment))]
    total = sum((check.weight for check, _ in looked), Decimal(0))
    cites = f"{dimension}.{component.name}"
    charged = [
        (check, tuple(_lines(check, assessment, checked, share=check.weight / total, cites=cites)))
        for check, checked in looked
    ]
    low, high = _bounds(component, assessment, charged)
    lines = tuple(line for _, part in charged for line in part)
    return ComponentScore(
        name=component.name,
        base_weight=component.weight,
        effective_weight=Decimal(0),
        result=weighing.component_result(lines) if looked else _why_not(component, assessment),
        checked=sum(checked for _, checked in looked),
        lines=lines,
        floor=low,
        ceiling=high,
    )


def _bounds(
    component: Component, assessment: Assessment, charged: Sequence[tuple[Check, tuple[Line, ...]]]
) -> tuple[Decimal, Decimal]:
    """The result with every check that could not look, or not at everything, at 0 and at full.

    A check that found nothing of its kind in complete evidence counts for neither, unless no check looked at all: a
    component without anything to check is unmeasured.
    """
    if not charged:
        return Decimal(0), weighing.FULL
    looked = _weight(check for check, _ in charged)
    seen = [(check, lines) for check, lines in charged if not _is_unseen(check, assessment)]
    unseen = _weight(check for check in component.checks if _is_unseen(check, assessment))
    kept = sum((check.weight * weighing.FULL + looked * _points(lines) for check, lines in seen), Decimal(0))
    total = _weight(check for check, _ in seen) + unseen
    return _plain(kept / total), _plain((kept + unseen * weighing.FULL) / total)


def _weight(checks: Iterable[Check]) -> Decimal:
    return sum((check.weight for check in checks), Decimal(0))


def _is_unseen(check: Check, assessment: Assessment) -> bool:
    outcomes = (assessment.outcome(criterion.question) for criterion in check.criteria)
    return any(isinstance(outcome, NotMeasured) or outcome.skipped for outcome in outcomes)


def _points(lines: Iterable[Line]) -> Decimal:
    return sum((line.points for line in lines), Decimal(0))


def _plain(value: Decimal) -> Decimal:
    return arithmetic.plain(arithmetic.on_quantum(value))


def _checked(check: Check, assessment: Assessment) -> int:
    outcomes = (assessment.outcome(criterion.question) for criterion in check.criteria)
    return max((outcome.checked for outcome in outcomes if isinstance(outcome, Measured)), default=0)


def _why_not(component: Component, assessment: Assessment) -> NotMeasured:
    if component.awaits:
        return NotMeasured("not_collected", f"no {component.awaits} evidence is collected yet")
    outcomes = [assessment.outcome(criterion.question) for check in component.checks for criterion in check.criteria]
    missing = [outcome for outcome in outcomes if isinstance(outcome, NotMeasured)]
    if missing:  # a kind that nobody collected says less than one that could not be had
        return next((outcome for outcome in missing if outcome.reason != Reason.NOT_COLLECTED), missing[0])
    skipped = [skip for outcome in outcomes if isinstance(outcome, Measured) for skip in outcome.skipped]
    if skipped:
        return NotMeasured("list_failed", f"{skipped[0].at}: {skipped[0].reason}")
    return NotMeasured("nothing_to_check", "there is nothing of the kind that is checked")


def _lines(check: Check, assessment: Assessment, checked: int, *, share: Decimal, cites: str) -> Iterator[Line]:
    found = list(_findings(check, assessment))
    costly = {finding.position for _, finding in found if not finding.tolerated}
    failed = len(costly)
    if not found:
        return
    loss = arithmetic.on_quantum(weighing.FULL * share * failed / checked)
    parts = iter(arithmetic.split(loss, failed) if failed else ())
    lines = []
    for criterion, finding in found:
        charged = not finding.tolerated and finding.position in costly
        points = -next(parts) if charged else Decimal(0)
        if charged:
            costly.remove(finding.position)
        lines.append(_line(criterion, finding, points, cites))
    yield from fold(lines, MAX_LINES)


def _findings(check: Check, assessment: Assessment) -> Iterator[tuple[Criterion, Finding]]:
    """The findings of a check in the order of the evidence, each with the criterion that it falls under."""
    found: list[tuple[Criterion, Finding]] = []
    for criterion in check.criteria:
        outcome = assessment.outcome(criterion.question)
        if isinstance(outcome, Measured):
            found += [(criterion, finding) for finding in outcome.findings]
    return iter(sorted(found, key=lambda pair: pair[1].position))


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
