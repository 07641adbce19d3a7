"""Compares what the rules of two receipts of one server cost, in points of the score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

from msgspec import Struct

from publish.views.fix_costs import RuleCost, rank_costs
from scoring.results.scorecard import Scorecard


class RuleChange(Struct, frozen=True, kw_only=True):
    """One rule whose lines differ: what it costs before and after, None where it costs nothing.

    `unchecked` is true if one of the two runs did not measure all that the rule judges.
    """

    rule: str
    title: str
    before: RuleCost | None
    after: RuleCost | None
    unchecked: bool = False

    @property
    def gain(self) -> Decimal:
        """Points that the rule costs less than before."""
        return _price(self.before) - _price(self.after)

    @property
    def outcome(self) -> str:
        """The change in words: `repaired`, `new`, `another place`, `12 places before, 5 now`."""
        if self.before is None:
            return "not fully measured before" if self.unchecked else "new"
        if self.after is None:
            return "not fully measured now" if self.unchecked else "repaired"
        if self.before.places == self.after.places:
            return "another place" if self.after.places == 1 else f"{self.after.places} places, not the same"
        return f"{_count(self.before.places)} before, {self.after.places} now"


def compare_rule_costs(before: Scorecard, after: Scorecard, rules: Collection[str]) -> Sequence[RuleChange]:
    """The given rules that cost points on one of the receipts, the largest change first.

    The price of a line depends on the rest of the receipt, so rules without another line are not compared.
    """
    old, new = ({cost.rule: cost for cost in rank_costs([card])} for card in (before, after))
    changes = [
        RuleChange(
            rule=rule,
            title=(new.get(rule) or old[rule]).title,
            before=old.get(rule),
            after=new.get(rule),
            unchecked=(rule not in new and _is_open(before, after, rule))
            or (rule not in old and _is_open(after, before, rule)),
        )
        for rule in rules
        if rule in old or rule in new
    ]
    return sorted(changes, key=lambda change: (-abs(change.gain), change.rule))


def _is_open(having: Scorecard, other: Scorecard, rule: str) -> bool:
    """Whether a part in which one receipt has lines of a rule is not fully measured on the other receipt."""
    parts = {(dimension.name, part.name): part for dimension in other.dimensions for part in dimension.components}
    places = {
        (dimension.name, part.name)
        for dimension in having.dimensions
        for part in dimension.components
        if any(line.rule == rule for line in part.lines)
    }
    return any(place not in parts or parts[place].floor != parts[place].ceiling for place in places)


def _price(cost: RuleCost | None) -> Decimal:
    return Decimal(0) if cost is None else cost.prices[0].points


def _count(places: int) -> str:
    return "1 place" if places == 1 else f"{places} places"
