"""Before and after on a terminal: a row for each rubric, then the lines that went and came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from rich.console import RenderableType

from publish.comparison import Comparison, LineChange, Side
from publish.figures import number, signed
from workers.cli.console import note, plain, show, table
from workers.cli.receipts import newest_only

_MOST = 30


def show_comparisons(found: Sequence[Comparison]) -> None:
    """Print them, of each rubric its newest version."""
    newest = newest_only(found)
    grid = table("Rubric", ("Before", "right"), ("After", "right"), ("Points", "right"), "Parts that moved")
    for one in newest:
        points = "" if one.points is None else signed(one.points)
        grid.add_row(one.name, _side(one.before), _side(one.after), points, plain(", ".join(_parts(one))))
    show(grid)
    for one in newest:
        _show_lines(one)
    if any(one.judged_otherwise for one in newest):
        note("the rules have changed since: not every difference comes from the server")
    if not any(one.changed for one in newest):
        note("nothing changed")


def _show_lines(one: Comparison) -> None:
    if not (one.gone or one.new):
        return
    grid = table(one.name, "Id", ("Points", "right"), "Where", "Why")
    lines = [("gone", line) for line in one.gone] + [("new", line) for line in one.new]
    for what, line in lines[:_MOST]:
        grid.add_row(what, *_cells(line))
    show(grid)
    if len(lines) > _MOST:
        note(f"{len(lines) - _MOST} more lines: --json for all")


def _cells(line: LineChange) -> tuple[RenderableType, ...]:
    return plain(line.cites), signed(line.points), plain(line.at), plain(line.why)


def _parts(one: Comparison) -> Iterator[str]:
    for part in one.parts:
        yield f"{part.name} {_figure(part.before)} → {_figure(part.after)}"


def _side(side: Side | None) -> str:
    if side is None:
        return "–"
    return "no score" if side.score is None else f"{number(side.score)} {side.grade or ''}".strip()


def _figure(value: Decimal | None) -> str:
    return "not measured" if value is None else number(value)
