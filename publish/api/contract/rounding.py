"""Rounds the exact decimals of a receipt to the numbers that pages show."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from publish.text.numbers import SHARE_PLACES, json_number

_PLACES: Final = {
    **dict.fromkeys(("score", "result", "floor", "ceiling", "points", "base_weight"), 2),
    **dict.fromkeys(("coverage", "effective_weight"), SHARE_PLACES),
}
"""Decimals of each member of a receipt that is a number."""


def round_receipt(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """A receipt as a scorecard of the API; a reason in place of a number stays as it is."""
    return _rounded(receipt) | {
        "lines": list(map(_rounded, receipt["lines"])),
        "dimensions": list(map(_round_dimension, receipt["dimensions"])),
    }


def _round_dimension(part: Mapping[str, Any]) -> dict[str, Any]:
    return _round_part(part) | {"components": list(map(_round_part, part["components"]))}


def _round_part(part: Mapping[str, Any]) -> dict[str, Any]:
    return _rounded(part) | {"lines": list(map(_rounded, part["lines"]))}


def _rounded(members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json_number(Decimal(value), _PLACES[name]) if name in _PLACES and isinstance(value, str) else value
        for name, value in members.items()
    }
