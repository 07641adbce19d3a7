"""Compares the dimensions of two receipts as bars, with the parts that were measured on one of the two only."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from publish.views.dimension_bars import list_dimension_bars
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Scorecard


class DimensionMove(Struct, frozen=True):
    """A dimension whose bar differs, in words, with the measured parts that came and went."""

    name: str
    before: str
    after: str
    measured: tuple[str, ...]
    unmeasured: tuple[str, ...]


def compare_dimension_bars(before: Scorecard, after: Scorecard) -> Iterator[DimensionMove]:
    """The dimensions of both receipts whose bars differ, in the order of the receipt."""
    bars = {bar.name: bar for bar in list_dimension_bars(before)}
    then = {part.name: part for part in before.dimensions}
    for part, bar in zip(after.dimensions, list_dimension_bars(after), strict=True):
        old = bars.get(bar.name)
        if old is not None and old.words != bar.words:
            parts = list(_pair(then[part.name], part))
            yield DimensionMove(
                bar.name,
                old.words,
                bar.words,
                tuple(_name(new) for was, new in parts if not _is_measured(was) and _is_measured(new)),
                tuple(_explain(new) for was, new in parts if _is_measured(was) and not _is_measured(new)),
            )


def _pair(before: DimensionScore, after: DimensionScore) -> Iterator[tuple[ComponentScore, ComponentScore]]:
    known = {part.name: part for part in before.components}
    return ((known[part.name], part) for part in after.components if part.name in known)


def _is_measured(part: ComponentScore) -> bool:
    return not isinstance(part.result, NotMeasured)


def _explain(part: ComponentScore) -> str:
    """The name of a part with the reason why it was not measured."""
    missing = part.result
    reason = (missing.detail or missing.reason.replace("_", " ")) if isinstance(missing, NotMeasured) else ""
    return f"{_name(part)} ({reason})"


def _name(part: ComponentScore) -> str:
    return part.name.replace("_", " ")
