"""Exact decimal arithmetic of the rubrics: every operation that changes a score, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Final, TypeVar

QUANTUM: Final = Decimal("1E-24")
"""Finest part of a point on a receipt; sums of such parts are exact in 28 digits."""

_NOISE: Final = Decimal("1E-12")
_ZERO: Final = Decimal(0)

Key = TypeVar("Key")


def add_points(start: Decimal, points: Iterable[Decimal]) -> Decimal:
    return sum(points, start)


def clamp_value(value: Decimal, low: Decimal, high: Decimal) -> Decimal:
    return max(low, min(high, value))


def weighted_mean(weighted: Iterable[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Mean of pairs (value, weight) with one division at the end; None when the weights sum to 0."""
    points = total = Decimal(0)
    for value, weight in weighted:
        points += value * weight
        total += weight
    return points / total if total else None


def redistribute_weights(base: Mapping[Key, Decimal], measured: Collection[Key]) -> dict[Key, Decimal]:
    """Effective weights: measured parts share 1 in proportion to their base weights, the other parts get 0.

    The effective weights sum to exactly 1: the remainder of the division goes to the first measured part.
    """
    total = sum((base[key] for key in base if key in measured), Decimal(0))
    if not total:
        return {key: Decimal(0) for key in base}
    effective = {key: _down(weight / total) if key in measured else Decimal(0) for key, weight in base.items()}
    first = next(key for key in base if key in measured and base[key])
    effective[first] += 1 - sum(effective.values())
    return effective


def compute_pass_rate(checked: int, failed: int) -> Decimal | None:
    """Share of the checked things that passed, 0 to 1; None when nothing was checked."""
    return Decimal(checked - failed) / Decimal(checked) if checked else None


def saturate_loss(damage: Decimal, things: Decimal) -> Decimal:
    """The loss, 0 to 1, of `damage` whole things among `things` at least as many.

    Half of it is the share of the things; the other half is d / (d + 1), scaled to reach 1 when all things are damaged,
    so that the first damaged thing costs most and no number of sound things makes it disappear.
    """
    if not damage:
        return Decimal(0)
    return (damage / things + damage / (damage + 1) * (things + 1) / things) / 2


def interpolate(value: Decimal, points: Sequence[tuple[Decimal, Decimal]]) -> Decimal:
    """The value on straight lines between control points (from, to), sorted; the value lies between first and last."""
    for (left, low), (right, high) in pairwise(points):
        if value <= right:
            return low + (value - left) * (high - low) / (right - left)
    return points[-1][1]


def split_evenly(total: Decimal, parts: int) -> list[Decimal]:
    """Split the total into equal multiples of QUANTUM; the last part also gets the remainder."""
    each = _down(total / parts)
    return [each] * (parts - 1) + [total - each * (parts - 1)]


def apportion_total(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Split the total in proportion to weights that are not all 0; the last part with a weight gets the remainder."""
    whole = sum(weights, Decimal(0))
    counted = [weight for weight in weights if weight]
    if len(set(counted)) == 1:
        equal = iter(split_evenly(total, len(counted)))
        return [next(equal) if weight else _ZERO for weight in weights]
    shares = {weight: _down(total * weight / whole) for weight in set(counted)}  # many weights are equal
    parts = [shares.get(weight, _ZERO) for weight in weights]
    last = max(index for index, weight in enumerate(weights) if weight)
    parts[last] += total - sum(parts, Decimal(0))
    return parts


def round_to_quantum(value: Decimal) -> Decimal:
    """Round to a multiple of QUANTUM, half to even."""
    return value.quantize(QUANTUM, rounding=ROUND_HALF_EVEN)


def round_half_up(value: Decimal, places: int = 0) -> Decimal:
    """Round halves away from zero, after removing the division noise that would hide a tie (2/3 + 1/3 + 75.5)."""
    return value.quantize(_NOISE, rounding=ROUND_HALF_EVEN).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def find_band(score: Decimal, bands: Sequence[tuple[Decimal, str]], otherwise: str) -> str:
    """Name of the first band whose lower bound the score reaches; `bands` are sorted from the highest down."""
    return next((name for bound, name in bands if score >= bound), otherwise)


def normalize_decimal(value: Decimal) -> Decimal:
    """The same number without exponent and trailing zeros, so that equal scores have equal text."""
    return value.quantize(Decimal(1)) + 0 if value == value.to_integral_value() else value.normalize()


def _down(value: Decimal) -> Decimal:
    return value.quantize(QUANTUM, rounding=ROUND_DOWN)
