"""Rounds and formats published numbers, and computes the geometry of histograms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final, Protocol

from msgspec import Struct

MINUS = "−"

SHARE_PLACES: Final = 3
"""Decimals of a share of 1, which pages show in per cent with one decimal."""

_WIDTH, _TOP, _BASE, _LEFT = 360, 22, 168, 8


def round_number(value: Decimal, places: int = 2) -> Decimal:
    """The published value of a number: at most `places` decimals, rounded half up."""
    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def round_short_of(value: Decimal, bound: Decimal, places: int = 2) -> Decimal:
    """The published value, rounded down where it would otherwise reach a bound that the exact value does not reach."""
    rounded = round_number(value, places)
    if value < bound <= rounded:
        return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR)
    return rounded


def json_number(value: Decimal, places: int = 2) -> int | float:
    """The published value of a number as a JSON number; a whole one has no fraction."""
    rounded = round_number(value, places)
    return int(rounded) if rounded == rounded.to_integral_value() else float(rounded)


def json_share(share: Decimal) -> int | float:
    """The published value of a share of 1 as a JSON number."""
    return json_number(share, SHARE_PLACES)


@lru_cache(8_192)
def format_number(value: Decimal, places: int = 2) -> str:
    """A number with at most `places` decimals, rounded half up, without trailing zeros."""
    text = f"{round_number(value, places):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text.replace("-", MINUS)


def format_signed(value: Decimal) -> str:
    """A number of points with its sign; nothing gained or lost is 0."""
    return f"+{format_number(value)}" if value > 0 else format_number(value)


@lru_cache(8_192)
def format_percent(share: Decimal | float) -> str:
    """A share of 1 in per cent, with one decimal where it is not whole."""
    return f"{format_number(Decimal(str(share)) * 100, 1)} %"


class HasBaseWeight(Protocol):
    """Anything with a base weight among its siblings."""

    @property
    def base_weight(self) -> Decimal:
        """Weight before anything is redistributed, on whatever scale its methodology publishes."""
        ...


def base_weight_share(part: HasBaseWeight, siblings: Iterable[HasBaseWeight]) -> Decimal:
    """A part's base weight as a share of its siblings' sum, so that it compares with effective weights."""
    whole = sum((sibling.base_weight for sibling in siblings), Decimal(0))
    return part.base_weight / whole if whole else Decimal(0)


class Bar(Struct, frozen=True):
    """One bar of a histogram in plot units, and what it stands for."""

    label: str
    count: int
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Where its labels are centred."""
        return round(self.x + self.width / 2, 1)


def make_bars(counts: Sequence[int], labels: Sequence[str]) -> tuple[Bar, ...]:
    """Bars side by side; the tallest fills the plot, and every count above zero can be seen."""
    tallest = max(counts, default=0) or 1
    step = (_WIDTH - 2 * _LEFT) / max(1, len(counts))
    heights = [max(2.0, (_BASE - _TOP) * count / tallest) if count else 0.0 for count in counts]
    xs = [round(_LEFT + index * step + 1, 1) for index in range(len(counts))]
    return tuple(
        Bar(label, count, x, round(_BASE - height, 1), round(step - 2, 1), round(height, 1))
        for label, count, x, height in zip(labels, counts, xs, heights, strict=True)
    )
