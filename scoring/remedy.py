"""Gains of fixes: the rubric judges again without the findings.

No formula of any rubric is repeated here, so clamps, bonuses, means and redistributed weights come out as they would.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Rubric
from scoring.engine.rule import discover_rules
from scoring.results.outcome import Finding, Measured
from scoring.results.scorecard import Scorecard

MAX_PLACES: Final = 100
"""Places of one receipt whose own gain is computed; the gain of their rule counts all of them."""

ROUNDING: Final = "rounding"
"""What rubrics call the line by which they round; without it, small gains would all be 0."""

Place: TypeAlias = tuple[str, str]
"""A rule and the path of what it found."""


class FixGain(Struct, frozen=True, kw_only=True):
    """Points that a fix brings before rounding, and the resulting score."""

    points: Decimal
    score: Decimal
    grade: str | None


class FixLocation(Struct, frozen=True, kw_only=True):
    """One place to fix. `alone` is the gain of fixing only this one, None for places past the limit."""

    at: str
    why: tuple[str, ...]
    alone: FixGain | None


class Remedy(Struct, frozen=True, kw_only=True):
    """All findings of one rule, how to fix them, the gain of that, and the published ids that charge for them."""

    rule: str
    title: str
    how: str
    cites: tuple[str, ...]
    gain: FixGain
    spots: tuple[FixLocation, ...]


class FixPlan(Struct, frozen=True, kw_only=True):
    """The current receipt, the remedies with the largest gain first, and the gain of fixing everything."""

    card: Scorecard
    remedies: tuple[Remedy, ...] = ()
    everything: FixGain | None = None


def plan_fixes(assessment: Assessment, rubric: Rubric, *, places: int = MAX_PLACES) -> FixPlan:
    """Plan all fixes of one server; without a score there are no gains.

    The gain of a single place is computed for so many `places`; each judges the server again.
    """
    card = rubric.score(assessment)
    if not isinstance(card.score, Decimal):
        return FixPlan(card=card)
    found = _found(assessment, rubric)
    faults = [place for rule in found.values() for place in rule]
    weigh = _Scales(assessment, rubric, card)
    gains = {rule: weigh.without(set(spots)) for rule, spots in found.items()}
    order = sorted(found, key=lambda rule: (-gains[rule].points, rule))
    worth = set([place for rule in order for place in found[rule]][:places])
    remedies = tuple(_remedy(rule, found[rule], gains[rule], weigh, worth) for rule in order)
    return FixPlan(card=card, remedies=remedies, everything=weigh.without(set(faults)) if faults else None)


def plan_fixes_of(assessment: Assessment, rubric: Rubric, card: Scorecard, rules: Collection[str]) -> Sequence[Remedy]:
    """The remedies of a few rules, the largest gain first, without the gains of single places.

    It judges again once for each rule, where `plan_fixes` does so for every rule and many places.
    """
    found = {rule: spots for rule, spots in _found(assessment, rubric).items() if rule in rules}
    weigh = _Scales(assessment, rubric, card)
    remedies = [_remedy(rule, spots, weigh.without(set(spots)), weigh, ()) for rule, spots in found.items()]
    return sorted(remedies, key=lambda remedy: (-remedy.gain.points, remedy.rule))


def exact_score(card: Scorecard) -> Decimal:
    """The score before rounding, 0 without a score."""
    score = card.score if isinstance(card.score, Decimal) else Decimal(0)
    return score - sum((line.points for line in card.lines if line.cites == ROUNDING), Decimal(0))


class _Scales:
    """Judges one server repeatedly, each time without some findings."""

    def __init__(self, assessment: Assessment, rubric: Rubric, card: Scorecard) -> None:
        self._assessment, self._rubric, self._before = assessment, rubric, exact_score(card)
        self._cited = {criterion.question for criterion in rubric.criteria}

    def cites(self, rule: str) -> tuple[str, ...]:
        """The published ids under which the rubric charges for a rule."""
        return tuple(dict.fromkeys(part.cites for part in self._rubric.criteria if part.rule == rule))

    def without(self, fixed: Collection[Place]) -> FixGain:
        """The gain of fixing these places."""
        outcomes = dict(self._assessment.outcomes)
        for question in self._cited:
            outcome = outcomes[question]
            if isinstance(outcome, Measured) and any(_place(finding) in fixed for finding in outcome.findings):
                kept = tuple(finding for finding in outcome.findings if _place(finding) not in fixed)
                outcomes[question] = replace(outcome, findings=kept)
        card = self._rubric.score(replace(self._assessment, outcomes=outcomes))
        score = card.score if isinstance(card.score, Decimal) else Decimal(0)
        return FixGain(points=exact_score(card) - self._before, score=score, grade=card.grade)


def _found(assessment: Assessment, rubric: Rubric) -> Mapping[str, Mapping[Place, list[str]]]:
    """The messages of the findings that a rubric reads, by rule and place."""
    found: dict[str, dict[Place, list[str]]] = {}
    for question in dict.fromkeys(criterion.question for criterion in rubric.criteria):
        outcome = assessment.outcome(question)
        for finding in outcome.findings if isinstance(outcome, Measured) else ():
            messages = found.setdefault(finding.rule, {}).setdefault(_place(finding), [])
            if finding.message not in messages:
                messages.append(finding.message)
    return found


def _remedy(
    rule: str, found: Mapping[Place, list[str]], gain: FixGain, weigh: _Scales, worth: Collection[Place]
) -> Remedy:
    declared = discover_rules()[rule]
    alone = {place: gain if len(found) == 1 else weigh.without({place}) for place in found if place in worth}
    return Remedy(
        rule=rule,
        title=declared.title,
        how=declared.remedy,
        cites=weigh.cites(rule),
        gain=gain,
        spots=tuple(FixLocation(at=place[1], why=tuple(why), alone=alone.get(place)) for place, why in found.items()),
    )


def _place(finding: Finding) -> Place:
    return finding.rule, finding.at
