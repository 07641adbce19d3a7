"""Costs of published advisories: severity times reach times scope times age of the fix (docs/decisions/0019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from evidence.kinds.advisories import Group, Reach, Severity

MAX_TOTAL_COST: Final = Decimal(9)
"""Most points that all known vulnerabilities may cost together."""

_SEVERITY: Final[Mapping[Severity, Decimal]] = {
    Severity.CRITICAL: Decimal(5),
    Severity.HIGH: Decimal(3),
    Severity.MEDIUM: Decimal(1),
    Severity.LOW: Decimal("0.3"),
    Severity.UNKNOWN: Decimal(1),
}
_REACH: Final[Mapping[Reach, Decimal]] = {
    Reach.ITSELF: Decimal(1),
    Reach.DIRECT: Decimal(1),
    Reach.TRANSITIVE: Decimal("0.5"),
    Reach.UNKNOWN: Decimal("0.5"),
}
_SCOPE: Final[Mapping[str, Decimal]] = {"dev": Decimal("0.1"), "optional": Decimal("0.5"), "peer": Decimal("0.5")}
_MALWARE: Final = "MAL-"
_YOUNG: Final = Decimal("0.5")
_RECENT_DAYS: Final = 30
_OLD_DAYS: Final = 90
_FURTHER: Final = Decimal("0.1")
"""Factor for each further flaw of the same version: one upgrade fixes all of them."""


def compute_advisory_costs(groups: Sequence[Group], days_since: Callable[[str], int | None]) -> list[Decimal]:
    """Points that each group costs, before the limit MAX_TOTAL_COST; `days_since` gives the age of a fix."""
    alone = [_cost(group, days_since(group.fixed_since)) for group in groups]
    worst: dict[tuple[str, str, str], int] = {}
    for index, group in enumerate(groups):
        package = (group.ecosystem, group.package, group.version)
        known = worst.setdefault(package, index)
        if alone[index] > alone[known]:
            worst[package] = index
    full = set(worst.values())
    return [cost if index in full else cost * _FURTHER for index, cost in enumerate(alone)]


def _cost(group: Group, fixed_for: int | None) -> Decimal:
    scope = _scope(group)
    if any(name.startswith(_MALWARE) for name in group.ids):
        return MAX_TOTAL_COST * scope
    return _SEVERITY[group.severity] * _REACH[group.relation] * scope * _age(fixed_for)


def _scope(group: Group) -> Decimal:
    if group.relation is Reach.ITSELF:
        return Decimal(1)
    return min((_SCOPE.get(scope, Decimal(1)) for scope in group.scopes), default=Decimal(1))


def _age(fixed_for: int | None) -> Decimal:
    """Half for a recent fix or none, rising to the whole cost for fixes of at least _OLD_DAYS."""
    if fixed_for is None or fixed_for <= _RECENT_DAYS:
        return _YOUNG
    if fixed_for >= _OLD_DAYS:
        return Decimal(1)
    return _YOUNG + _YOUNG * (fixed_for - _RECENT_DAYS) / (_OLD_DAYS - _RECENT_DAYS)
