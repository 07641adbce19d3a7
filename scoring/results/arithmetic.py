"""Exact decimal arithmetic of the rubrics: every operation that moves a score, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Final, TypeVar

QUANTUM: Final = Decimal("1E-24")
"""Finest part of a point on a receipt; sums of such parts are exact in 28 digits."""

_NOISE: Final = Decimal("1E-12")

Key = TypeVar("Key")


def add_points(start: Decimal, points: Iterable[Decimal]) -> Decimal:
    """The start plus signed points."""
    return sum(points, start)


def clamp_value(value: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """The value, or the bound that it passed."""
    return max(low, min(high, value))


def weighted_mean(weighted: Iterable[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Mean of (value, weight) with one division at the end; None when there is no weight."""
    pairs = list(weighted)
    total = sum((weight for _, weight in pairs), Decimal(0))
    return sum((value * weight for value, weight in pairs), Decimal(0)) / total if total else None


def redistribute_weights(base: Mapping[Key, Decimal], measured: Collection[Key]) -> dict[Key, Decimal]:
    """Effective weights: the measured share the whole in proportion to their base weight, the others get 0.

    The effective weights sum to exactly 1: what the division leaves over goes to the first measured part.
    """
    total = sum((base[key] for key in base if key in measured), Decimal(0))
    if not total:
        return {key: Decimal(0) for key in base}
    effective = {key: _down(weight / total) if key in measured else Decimal(0) for key, weight in base.items()}
    first = next(key for key in base if key in measured and base[key])
    effective[first] += 1 - sum(effective.values())
    return effective


def compute_pass_rate(checked: int, failed: int) -> Decimal | None:
    """Share of checked things that passed, 0 to 1; None when nothing was checked."""
    return Decimal(checked - failed) / Decimal(checked) if checked else None


def split_evenly(total: Decimal, parts: int) -> list[Decimal]:
    """The total as equal parts on the quantum; the last part takes what the division leaves over."""
    each = _down(total / parts)
    return [each] * (parts - 1) + [total - each * (parts - 1)]


def apportion_total(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """The total in proportion to weights that are not all 0; the last that has one takes what division leaves over."""
    whole = sum(weights, Decimal(0))
    counted = [weight for weight in weights if weight]
    if len(set(counted)) == 1:
        equal = iter(split_evenly(total, len(counted)))
        return [next(equal) if weight else Decimal(0) for weight in weights]
    parts = [_down(total * weight / whole) if weight else Decimal(0) for weight in weights]
    last = max(index for index, weight in enumerate(weights) if weight)
    parts[last] += total - sum(parts, Decimal(0))
    return parts


def round_to_quantum(value: Decimal) -> Decimal:
    """The value on the grid of QUANTUM, half to even."""
    return value.quantize(QUANTUM, rounding=ROUND_HALF_EVEN)


def round_half_up(value: Decimal, places: int = 0) -> Decimal:
    """Round once, halves away from zero, after removing division noise that would break a tie (2/3 + 1/3 + 75.5)."""
    return value.quantize(_NOISE, rounding=ROUND_HALF_EVEN).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def find_band(score: Decimal, bands: Sequence[tuple[Decimal, str]], otherwise: str) -> str:
    """The name of the first band, from the highest down, whose lower bound the score reaches."""
    return next((name for bound, name in bands if score >= bound), otherwise)


def normalize_decimal(value: Decimal) -> Decimal:
    """The same number without an exponent and without trailing zeros, so that equal scores are written alike."""
    return value.quantize(Decimal(1)) + 0 if value == value.to_integral_value() else value.normalize()


def _down(value: Decimal) -> Decimal:
    return value.quantize(QUANTUM, rounding=ROUND_DOWN)
