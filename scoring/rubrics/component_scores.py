"""One component of a weighted methodology: what its checks found, as points on a scale of 0 to 10."""

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
"""Findings of one check that get a line each; the rest share one line."""


_NONE_OF_IT: Final = frozenset({Reason.NO_PACKAGE})
"""Reasons that tell that there is nothing to look at, and not that we could not look."""


NOTHING_TO_CHECK: Final = NotMeasured("nothing_to_check", "there is nothing of the kind that is checked")


@dataclass(frozen=True, slots=True)
class _Look:
    """What one check saw: how many things its criteria looked at, and whether they could look at everything."""

    check: Check
    outcomes: tuple[Outcome, ...]
    checked: int
    complete: bool


def score_component(component: Component, assessment: Assessment, *, dimension: str) -> ComponentScore:
    """Ten points less, for each check, its share of them times the share of checked things that did not pass.

    Checks that had nothing to look at share their weight among the others; when none could look, NotMeasured. A thing
    of which a part fails counts as that part.
    """
    looks = [_look(check, assessment) for check in component.checks]
    looked = [look for look in looks if look.checked]
    if all(look.check.beside for look in looked):
        looked = []
    total = _weight(looked)
    cites = f"{dimension}.{component.name}"
    charged = [(look, _lines(look, share=look.check.weight / total, cites=cites)) for look in looked]
    low, high = _bounds(looks, charged)
    lines = tuple(line for _, part in charged for line in part)
    return ComponentScore(
        name=component.name,
        base_weight=component.weight,
        effective_weight=Decimal(0),
        result=weighting.compute_component_result(lines) if looked else _why_not(component, looks),
        checked=sum(look.checked for look in looked if look.check.weight),
        lines=lines,
        floor=low,
        ceiling=high,
    )


def _look(check: Check, assessment: Assessment) -> _Look:
    look = _see(check, assessment)
    if look.checked or check.otherwise is None:
        return look
    other = _look(check.otherwise, assessment)
    return replace(other, complete=look.complete and other.complete) if other.checked else look


def _see(check: Check, assessment: Assessment) -> _Look:
    outcomes = tuple([assessment.outcome(criterion.question) for criterion in check.criteria])
    checked, complete = 0, True
    for outcome in outcomes:
        if isinstance(outcome, NotMeasured):
            complete = complete and outcome.reason in _NONE_OF_IT
        else:
            checked = max(checked, outcome.checked)
            complete = complete and not outcome.skipped
    return _Look(check, outcomes, checked, complete)


def _bounds(looks: Sequence[_Look], charged: Sequence[tuple[_Look, tuple[Line, ...]]]) -> tuple[Decimal, Decimal]:
    """The result with every check that could not look, or not at everything, at 0 and at full.

    A check that found nothing of its kind in complete evidence counts for neither, unless no check looked at all: a
    component without anything to check is unmeasured.
    """
    if not charged:
        return Decimal(0), weighting.FULL_POINTS
    looked = _weight(look for look, _ in charged)
    seen = [(look.check.weight, lines) for look, lines in charged if look.complete]
    unseen = _weight(look for look in looks if not look.complete)
    kept = sum((weight * weighting.FULL_POINTS + looked * _points(lines) for weight, lines in seen), Decimal(0))
    total = sum((weight for weight, _ in seen), unseen)
    low = _plain(kept / total)
    return low, _plain((kept + unseen * weighting.FULL_POINTS) / total) if unseen else low


def _weight(looks: Iterable[_Look]) -> Decimal:
    return sum((look.check.weight for look in looks), Decimal(0))


def _points(lines: Iterable[Line]) -> Decimal:
    return sum((line.points for line in lines), Decimal(0))


def _plain(value: Decimal) -> Decimal:
    return arithmetic.normalize_decimal(arithmetic.round_to_quantum(value))


def _why_not(component: Component, looks: Iterable[_Look]) -> NotMeasured:
    if component.awaits:
        return NotMeasured("not_collected", f"no {component.awaits} evidence is collected yet")
    outcomes = [outcome for look in looks for outcome in look.outcomes]
    missing = [outcome for outcome in outcomes if isinstance(outcome, NotMeasured)]
    told = [outcome for outcome in missing if outcome.reason != Reason.NOT_COLLECTED]
    if told:  # a kind that nobody collected says less than one that could not be had
        return told[0]
    skipped = [skip for outcome in outcomes if isinstance(outcome, Measured) for skip in outcome.skipped]
    if skipped:
        reason = "list_failed" if skipped[0].at in listing.LISTS else "inconclusive"
        return NotMeasured(reason, f"{skipped[0].at}: {skipped[0].reason}")
    return missing[0] if missing else NOTHING_TO_CHECK


def _lines(look: _Look, *, share: Decimal, cites: str) -> tuple[Line, ...]:
    found = _findings(look)
    if not found:
        return ()
    failed = _failed([finding for _, finding in found])
    total = sum(failed, Decimal(0))
    loss = arithmetic.round_to_quantum(weighting.FULL_POINTS * share * total / look.checked)
    parts = arithmetic.apportion_total(loss, failed) if loss else [Decimal(0)] * len(failed)
    lines = (_line(criterion, finding, -part, cites) for (criterion, finding), part in zip(found, parts, strict=True))
    return fold_lines(lines, MAX_LINES)


def _failed(findings: Sequence[Finding]) -> list[Decimal]:
    """How much of its thing each finding costs: the first that fails it as a whole all of it, else each its share.

    Shares that are more than the whole together shrink alike, so a thing never costs more than once.
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
            most = max(WHOLE_SHARE, sum((findings[index].share for index in indices), Decimal(0)))
            for index in indices:
                parts[index] = findings[index].share / most
    return parts


def _findings(look: _Look) -> list[tuple[Criterion, Finding]]:
    """The findings of a check in the order of the evidence, each with the criterion that it falls under."""
    found = [
        (criterion, finding)
        for criterion, outcome in zip(look.check.criteria, look.outcomes, strict=True)
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
