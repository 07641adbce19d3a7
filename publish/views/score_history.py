"""The scores of one server over time: one line for each rubric, broken where scores cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final

from msgspec import Struct

from evidence.model import Trigger
from evidence.store.listing.values import HistoryPoint
from publish.text.numbers import format_number
from publish.views.headlines import Turn, find_turn

WIDTH: Final = 420
HEIGHT: Final = 200
MAX_POINTS: Final = 400
"""Runs in a plot; the table has fewer."""

LEFT, RIGHT, TOP, BASE = 28, 10, 16, 168
_LABELS: Final = 5
"""Labelled marks in a plot; the table has all of them."""


class PlotDot(Struct, frozen=True, kw_only=True):
    """One run. `y` is None without a score; `moved` is the difference to the previous score if they are comparable.

    `turn`: the score disappeared or appeared.

    `because`: why the previous run cannot be compared with it; empty if it can.
    """

    run: str
    as_of: datetime
    name: str
    score: Decimal | None
    grade: str | None
    moved: Decimal | None
    because: str
    turn: Turn | None
    retest: bool
    x: float
    y: float | None


class MethodologyMark(Struct, frozen=True):
    """A position where scores before and after cannot be compared. `label` is empty if there is no room for it."""

    x: float
    label: str
    anchor: str


class ScoreSeries(Struct, frozen=True, kw_only=True):
    """The line of one rubric: strokes between comparable neighbours, marks between the others.

    `said` is the text alternative of the plot; `earlier` is the number of runs before it.
    """

    rubric: str
    title: str
    dots: tuple[PlotDot, ...]
    strokes: tuple[str, ...]
    marks: tuple[MethodologyMark, ...]
    ticks: tuple[tuple[float, str], ...]
    said: str
    earlier: int


def view_history(
    points: Iterable[HistoryPoint], titles: Mapping[str, str], main: str = "", limit: int = MAX_POINTS
) -> tuple[ScoreSeries, ...]:
    """One series for each rubric, the main one first. Of several versions in one run, the newest counts."""
    known: dict[str, dict[str, HistoryPoint]] = {}
    for point in points:
        nights = known.setdefault(point.rubric, {})
        if point.run not in nights or nights[point.run].version < point.version:
            nights[point.run] = point
    order = sorted(known, key=lambda rubric: (rubric != main, rubric))
    return tuple(_series(rubric, titles.get(rubric, rubric), list(known[rubric].values()), limit) for rubric in order)


def _series(rubric: str, title: str, points: Sequence[HistoryPoint], limit: int) -> ScoreSeries:
    nights = sorted(points, key=lambda point: (point.as_of, point.run))
    shown = nights[-limit:]
    dots = tuple(_dots(shown))
    return ScoreSeries(
        rubric=rubric,
        title=title,
        dots=dots,
        strokes=tuple(_strokes(dots)),
        marks=tuple(_marks(dots)),
        ticks=_ticks(shown),
        said=_describe_dots(dots),
        earlier=len(nights) - len(shown),
    )


def _dots(points: Sequence[HistoryPoint]) -> Iterator[PlotDot]:
    across = _scale(points)
    before: HistoryPoint | None = None
    for point in points:
        because = "" if before is None else explain_incomparable(before, point)
        score = point.score
        old = before.score if before is not None and not because else None
        yield PlotDot(
            run=point.run,
            as_of=point.as_of,
            name=f"{point.rubric}@{point.version}",
            score=score,
            grade=point.grade,
            moved=None if old is None or score is None else score - old,
            because=because,
            turn=None if before is None else find_turn(before.score, score),
            retest=point.trigger is Trigger.RETEST,
            x=across(point.as_of),
            y=None if score is None else round(BASE - float(score) * (BASE - TOP) / 100, 1),
        )
        before = point


def explain_incomparable(before: HistoryPoint, after: HistoryPoint) -> str:
    """Why two scores under one rubric cannot be compared: another version or ruleset; empty if they can."""
    if before.version != after.version:
        return f"{before.rubric}@{before.version} before, {after.rubric}@{after.version} after"
    old, new = before.pinned.get("ruleset", ""), after.pinned.get("ruleset", "")
    return f"ruleset {old or 'not known'} before, {new or 'not known'} after" if old != new else ""


def _scale(points: Sequence[HistoryPoint]) -> Callable[[datetime], float]:
    first, last = points[0].as_of, points[-1].as_of
    span, room = last - first, WIDTH - LEFT - RIGHT
    if not span:
        return lambda moment: round(LEFT + room / 2, 1)
    return lambda moment: round(LEFT + room * ((moment - first) / span), 1)


def _strokes(dots: Sequence[PlotDot]) -> Iterator[str]:
    """The points of each unbroken part of the line."""
    piece: list[str] = []
    for dot in dots:
        if dot.because or dot.y is None:
            if len(piece) > 1:
                yield " ".join(piece)
            piece = []
        if dot.y is not None:
            piece.append(f"{dot.x},{dot.y}")
    if len(piece) > 1:
        yield " ".join(piece)


def _marks(dots: Sequence[PlotDot]) -> Iterator[MethodologyMark]:
    broken = [(old, new) for old, new in pairwise(dots) if new.because]
    for position, (old, new) in enumerate(broken):
        label = (new.name if old.name != new.name else "rules") if len(broken) <= _LABELS else ""
        x = round((old.x + new.x) / 2, 1)
        yield MethodologyMark(x, label if not position or x - broken[position - 1][1].x > WIDTH / 6 else "", _anchor(x))


def _anchor(x: float) -> str:
    return "end" if x > WIDTH * 0.85 else "start" if x < WIDTH * 0.15 else "middle"


def _ticks(points: Sequence[HistoryPoint]) -> tuple[tuple[float, str], ...]:
    first, last = points[0].as_of, points[-1].as_of
    across = _scale(points)
    moments = [first] if last - first < timedelta(days=1) else [first, last]
    return tuple((across(moment), moment.strftime("%Y-%m-%d")) for moment in moments)


def _describe_dots(dots: Sequence[PlotDot]) -> str:
    scores = [dot.score for dot in dots if dot.score is not None]
    runs = f"{len(dots)} run{'' if len(dots) == 1 else 's'}"
    if not scores:
        return f"{runs}, none with a score."
    breaks = sum(bool(dot.because) for dot in dots)
    broken = f" {breaks} time{'' if breaks == 1 else 's'} the methodology or its rules changed." if breaks else ""
    least, most = format_number(min(scores)), format_number(max(scores))
    newest = dots[-1].score
    if len(dots) == 1:
        return f"1 run, with the score {least}."
    ends = "no score in the last run" if newest is None else f"the last one {format_number(newest)}"
    values = f"always {least}" if least == most else f"between {least} and {most}"
    return f"{runs}, {len(scores)} with a score, {values}, {ends}.{broken}"
