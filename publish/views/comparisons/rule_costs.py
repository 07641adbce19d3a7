"""Compares what the rules of two receipts of one server cost, in points of the score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from publish.views.fix_costs import RuleCost, rank_costs
from scoring.results.scorecard import Scorecard


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChange:
    """One rule whose lines differ: what it costs before and after, None where it costs nothing."""

    rule: str
    title: str
    before: RuleCost | None
    after: RuleCost | None

    @property
    def gain(self) -> Decimal:
        """Points that the rule costs less than before."""
        return _price(self.before) - _price(self.after)

    @property
    def outcome(self) -> str:
        """The change in words: `repaired`, `new`, `another place`, `12 places before, 5 now`."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "repaired"
        if self.before.places == self.after.places:
            return "another place" if self.after.places == 1 else f"{self.after.places} places, not the same"
        return f"{_count(self.before.places)} before, {self.after.places} now"


def compare_rule_costs(before: Scorecard, after: Scorecard, rules: Collection[str]) -> Sequence[RuleChange]:
    """The given rules that cost points on one of the receipts, the largest change first.

    The price of a line depends on the rest of the receipt, so rules without another line are not compared.
    """
    old, new = ({cost.rule: cost for cost in rank_costs([card])} for card in (before, after))
    changes = [
        RuleChange(rule=rule, title=(new.get(rule) or old[rule]).title, before=old.get(rule), after=new.get(rule))
        for rule in rules
        if rule in old or rule in new
    ]
    return sorted(changes, key=lambda change: (-abs(change.gain), change.rule))


def _price(cost: RuleCost | None) -> Decimal:
    return Decimal(0) if cost is None else cost.prices[0].points


def _count(places: int) -> str:
    return "1 place" if places == 1 else f"{places} places"
