"""Comparisons of receipts on a terminal: one row per rubric, then the removed and added lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from rich.console import RenderableType

from publish.text.numbers import format_number, format_signed
from publish.views.comparisons.receipts import Comparison, LineChange, ReceiptResult
from workers.cli.display.console import clean_text, make_table, print_data, print_note
from workers.cli.display.receipts import select_newest

_MOST = 30


def show_comparisons(found: Sequence[Comparison]) -> None:
    """Print the comparisons of the newest version of each rubric."""
    newest = select_newest(found)
    grid = make_table("Rubric", ("Before", "right"), ("After", "right"), ("Points", "right"), "Parts that moved")
    for one in newest:
        points = "" if one.points is None else format_signed(one.points)
        grid.add_row(one.name, _side(one.before), _side(one.after), points, clean_text(", ".join(_parts(one))))
    print_data(grid)
    for one in newest:
        _show_lines(one)
    if any(one.judged_otherwise for one in newest):
        print_note("the rules have changed in between: not every difference comes from the server")
    if not any(one.changed for one in newest):
        print_note("nothing changed")


def _show_lines(one: Comparison) -> None:
    if not (one.gone or one.new):
        return
    grid = make_table(one.name, "Id", ("Points", "right"), "Where", "Why")
    lines = [("gone", line) for line in one.gone] + [("new", line) for line in one.new]
    for what, line in lines[:_MOST]:
        grid.add_row(what, *_cells(line))
    print_data(grid)
    if len(lines) > _MOST:
        print_note(f"{len(lines) - _MOST} more lines: --json for all")


def _cells(line: LineChange) -> tuple[RenderableType, ...]:
    return clean_text(line.cites), format_signed(line.points), clean_text(line.at), clean_text(line.why)


def _parts(one: Comparison) -> Iterator[str]:
    for part in one.parts:
        yield f"{part.name} {_figure(part.before)} → {_figure(part.after)}"


def _side(side: ReceiptResult | None) -> str:
    if side is None:
        return "–"
    return "no score" if side.score is None else f"{format_number(side.score)} {side.grade or ''}".strip()


def _figure(value: Decimal | None) -> str:
    return "not measured" if value is None else format_number(value)
