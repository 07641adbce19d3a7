"""Who may pass the gate or earn a badge at all, told from one glance at a receipt: most cannot, and are not judged.

Judging needs every line of every receipt. What a glance gives are upper bounds: a part's floor is never above its
result, so who lacks points there cannot be saved by the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from publish import gate
from publish.gate import Requirement
from scoring.dimensions import RELIABILITY, SECURITY

_PARTS = {f"{part.name}-floor": part.name for part in (RELIABILITY, SECURITY)}


def is_candidate(main: Mapping[str, Any] | None) -> bool:
    """Whether the gate or a badge may be met, by the members of the receipt that they ask; False without one.

    Never False for a server that meets one.
    """
    if main is None:
        return False
    return any(all(_may_meet(main, requirement) for requirement, _ in rule.requirements) for rule in gate.RULES)


def _may_meet(main: Mapping[str, Any], requirement: Requirement) -> bool:
    if requirement.id == "coverage":
        return Decimal(main["coverage"]) >= requirement.needs
    if requirement.id == "floor":
        return isinstance(main["score"], str) and Decimal(main.get("floor", main["score"])) >= requirement.needs
    if requirement.id in _PARTS:
        result = _result(main, _PARTS[requirement.id])
        return result is not None and result >= requirement.needs
    return True


def _result(main: Mapping[str, Any], name: str) -> Decimal | None:
    found = next((part["result"] for part in main["dimensions"] if part["name"] == name), None)
    return Decimal(found) if isinstance(found, str) else None
