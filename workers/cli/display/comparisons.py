"""Comparisons of receipts on a terminal: one row per rubric, then the removed and added lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from msgspec.structs import replace
from rich.console import RenderableType

from publish.text.numbers import format_number, format_signed
from publish.views.comparisons.receipts import Comparison, LineChange, ReceiptResult, comparison_as_json
from publish.views.headlines import find_turn
from scoring.results.verdict import CAP
from workers.cli.display.console import clean_text, make_table, print_data, print_note
from workers.cli.display.receipts import select_newest
from workers.cli.display.verdicts import format_change

_MOST = 30


def show_comparisons(found: Sequence[Comparison]) -> None:
    """Print the comparisons of the newest version of each rubric."""
    newest = [omit_movements(one) for one in select_newest(found)]
    for line in (line for one in newest for line in one.new if line.cites.startswith(CAP)):
        print_data(clean_text(f"New: {line.why}", "bold red", limit=1000))
    grid = make_table("Rubric", ("Before", "right"), ("After", "right"), ("Points", "right"), "Parts that moved")
    for one in newest:
        change = "" if one.before is None else format_change(one.before.score, one.after.score)
        grid.add_row(one.name, _side(one.before), _side(one.after), change, clean_text(", ".join(_parts(one))))
    print_data(grid)
    for one in newest:
        _show_lines(one)
    if any(one.judged_otherwise for one in newest):
        print_note("the rules have changed in between: not every difference comes from the server")
    if not any(one.changed for one in newest):
        print_note("nothing changed")


def omit_movements(one: Comparison) -> Comparison:
    """The comparison; without a score on one of the sides nothing of it is a movement of the server."""
    if one.before is not None and None not in (one.before.score, one.after.score):
        return one
    return replace(one, parts=(), gone=(), new=(), rules=())


def make_comparison_object(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON values; `turn` says that a score went or came, which has no size."""
    before, after = comparison.before, comparison.after
    turn = None if before is None else find_turn(before.score, after.score)
    return {**comparison_as_json(omit_movements(comparison)), "turn": None if turn is None else turn.value}


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
