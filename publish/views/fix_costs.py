"""Ranks the faults of a server by cost, and predicts the gain of fixes by judging again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.model import Dossier
from publish.disclosure import WITHHELD, ReviewedFindings, private_rule_ids
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Rubric, VerdictMethod
from scoring.engine.rule import discover_rules
from scoring.remedy import FixPlan, Remedy, plan_fixes
from scoring.results import arithmetic, weighting
from scoring.results.scorecard import Line, Scorecard

_SCALE: Final = Decimal(10)
"""From the 0 to 10 of a dimension to the 0 to 100 of a score."""


class RulePrice(Struct, frozen=True):
    """The cost of a rule's lines under one rubric: points of its score, and the published ids."""

    rubric: str
    points: Decimal
    cites: tuple[str, ...]


class RuleCost(Struct, frozen=True, kw_only=True):
    """One rule that costs points: its remedy, its prices, that of the main rubric first, and where it applies."""

    rule: str
    title: str
    remedy: str
    prices: tuple[RulePrice, ...]
    places: int
    at: str
    why: str


def rank_costs(cards: Sequence[Scorecard]) -> tuple[RuleCost, ...]:
    """The rules that public receipts charge for, the most expensive one under the first receipt's rubric first.

    Lines without a rule and withheld lines are left out.
    """
    found: dict[str, dict[str, list[tuple[Line, Decimal]]]] = {}
    for card in cards:
        for line, points in _charged(card):
            found.setdefault(line.rule or "", {}).setdefault(card.rubric, []).append((line, points))
    order = [card.rubric for card in cards]
    costs = [_cost(rule, {name: by[name] for name in order if name in by}) for rule, by in found.items()]
    main = order[0] if order else ""
    return tuple(sorted(costs, key=lambda cost: (-_worth(cost, main), -sum(p.points for p in cost.prices), cost.rule)))


def predict_public_fixes(dossier: Dossier, rubric: Rubric, reviewed: ReviewedFindings) -> FixPlan:
    """The gains of fixing public findings under one rubric, judged again by the rules of this code.

    The whole dossier is judged, with its private records; a remedy that reveals an undisclosed finding is left out,
    and the sum of all remedies with it.
    """
    found = plan_fixes(assess_dossier(dossier, [rubric]), rubric)
    public_remedies = tuple(remedy for remedy in found.remedies if _is_public(remedy, reviewed))
    return (
        found
        if len(public_remedies) == len(found.remedies)
        else replace(found, remedies=public_remedies, everything=None)
    )


def _is_public(remedy: Remedy, reviewed: ReviewedFindings) -> bool:
    """Whether all findings of a remedy are public."""
    spots = ((remedy.rule, spot.at, why) for spot in remedy.spots for why in spot.why)
    return remedy.rule not in private_rule_ids() or all(spot in reviewed.disclosed for spot in spots)


def _charged(card: Scorecard) -> Iterator[tuple[Line, Decimal]]:
    """Lines with their cost in points of the score; each fault once, at the level that names its rule."""
    if any(line.rule for line in card.lines) or not card.dimensions:
        yield from ((line, -line.points) for line in card.lines if _costs(line))
        return
    if method := _find_method(card):
        yield from _charged_on_scale(card, method)
        return
    for dimension in card.dimensions:
        weight = dimension.effective_weight * _SCALE
        yield from ((line, -line.points * weight) for line in dimension.lines if _costs(line))
        for component in dimension.components:
            share = weight * component.effective_weight
            yield from ((line, -line.points * share) for line in component.lines if _costs(line))


def _find_method(card: Scorecard) -> VerdictMethod | None:
    """None also for a version that is no longer in the code."""
    return next((one.method for one in catalogue.list_rubrics() if one.name == f"{card.rubric}@{card.version}"), None)


def _charged_on_scale(card: Scorecard, method: VerdictMethod) -> Iterator[tuple[Line, Decimal]]:
    """Each line with what the value gains before caps when the points of this line alone come back."""
    low, _ = weighting.compute_guaranteed(card.dimensions)
    before = arithmetic.interpolate(low, method.scale)
    applicable = [part for part in card.dimensions if weighting.bound_dimension(part) is not None]
    whole = sum((part.base_weight for part in applicable), Decimal(0))
    for dimension in applicable:
        parts = [part for part in dimension.components if not weighting.is_inapplicable(part)]
        total = sum((part.base_weight for part in parts), Decimal(0))
        for part in parts:
            weight = _SCALE * dimension.base_weight * part.base_weight / (whole * total)
            prices: dict[Decimal, Decimal] = {}
            for line in part.lines if weight else ():
                if _costs(line):
                    if line.points not in prices:
                        prices[line.points] = arithmetic.interpolate(low - line.points * weight, method.scale) - before
                    yield line, prices[line.points]


def _costs(line: Line) -> bool:
    return line.points < 0 and line.rule is not None and line.rule != WITHHELD


def _cost(rule: str, by: Mapping[str, Sequence[tuple[Line, Decimal]]]) -> RuleCost:
    lines = [line for charged in by.values() for line, _ in charged]
    declared = discover_rules().get(rule)
    places = {line.at for line in lines}
    return RuleCost(
        rule=rule,
        title=declared.title if declared else rule,
        remedy=declared.remedy if declared else "",
        prices=tuple(
            RulePrice(
                name,
                sum((points for _, points in charged), Decimal(0)),
                tuple(dict.fromkeys(line.cites for line, _ in charged)),
            )
            for name, charged in by.items()
        ),
        places=len(places),
        at=lines[0].at,
        why=lines[0].why,
    )


def _worth(cost: RuleCost, rubric: str) -> Decimal:
    return next((price.points for price in cost.prices if price.rubric == rubric), Decimal(0))
