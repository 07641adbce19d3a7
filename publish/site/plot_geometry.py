"""Geometry of the dashboard's plots, in plot units; the templates draw them as SVG with a table beside each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

PLOT_WIDTH: Final = 100.0
"""Width of a line of shares."""

_SPARK: Final = (60.0, 20.0)


class Piece(Struct, frozen=True):
    """A segment of a stacked bar: its start, its width and what it counts."""

    name: str
    count: int
    x: float
    width: float


class Span(Struct, frozen=True):
    """A score before and after, on a scale from 0 to 100."""

    before: float
    after: float

    @property
    def start(self) -> float:
        return min(self.before, self.after)

    @property
    def width(self) -> float:
        return round(abs(self.after - self.before), 2)


class Stroke(Struct, frozen=True):
    """One bar of a small histogram."""

    x: float
    y: float
    width: float
    height: float


def make_pieces(counts: Mapping[str, int]) -> tuple[Piece, ...]:
    """Segments of a stacked bar; a count of zero has none, and every other one has a visible width."""
    whole = sum(counts.values())
    x, found = 0.0, []
    for name, count in counts.items():
        if count:
            width = PLOT_WIDTH * count / whole
            found.append(Piece(name, count, round(x, 2), round(max(0.6, width), 2)))
            x += width
    return tuple(found)


def make_span(before: Decimal, after: Decimal) -> Span:
    return Span(float(before), float(after))


def make_strokes(bins: Sequence[int]) -> tuple[Stroke, ...]:
    """A histogram that fits into a table cell."""
    wide, high = _SPARK
    tallest, step = max(bins, default=0) or 1, wide / max(1, len(bins))
    return tuple(
        Stroke(round(index * step, 2), round(high - tall, 2), round(step - 1, 2), round(tall, 2))
        for index, count in enumerate(bins)
        if count
        for tall in [max(1.5, high * count / tallest)]
    )


def bar_length(part: int, most: int) -> float:
    """The length of a bar in a table; the longest one has 100."""
    return round(max(1.0, PLOT_WIDTH * part / most), 2) if part and most else 0.0


def parse_decimal(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))
