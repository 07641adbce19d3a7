"""`hallmark diff`: who moved between two snapshots or runs, by how much, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from publish.datasets.difference import Difference, Listing, Moved, OfSnapshot, Pins, Rows, Tally, differences
from publish.datasets.manifest import NotASnapshot
from publish.datasets.of_run import OfRun
from publish.datasets.reading import Unreadable, open_snapshot
from publish.figures import number, signed
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, fail, note, plain, show, table
from workers.cli.session import find_run, reading

app = typer.Typer(add_completion=False)


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="Folder of a snapshot, or a run of the store.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, later.")],
    *,
    rubric: Annotated[str | None, typer.Option(metavar="NAME", help="Only this methodology.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of the table; 0: all.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line: each receipt that moved.")] = False,
) -> None:
    """Show who moved between two snapshots or runs, and whether evidence, rules or the methodology made them move.

    Causes are told by digests: those of the evidence, and the versions that both were made with. Of two runs only what
    may be published is compared.

    Examples:

    hallmark diff ./yesterday ./today

    hallmark diff 20260301T0300 latest --json
    """
    with explained(), _side(before) as one, _side(after) as other:
        try:
            found = (each for each in differences(one, other) if not rubric or _is_of(each, rubric))
            if as_json:
                for each in found:
                    emit(_document(each))
            else:
                _tell(found, Pins(one.pins, other.pins), limit)
        except Unreadable as error:
            fail(str(error))


@contextmanager
def _side(name: str) -> Iterator[Rows]:
    if Path(name).is_dir():
        try:
            yield OfSnapshot(open_snapshot(Path(name)))
        except NotASnapshot as error:
            fail(str(error), Exit.USAGE)
        return
    with reading() as store:
        yield OfRun(store, find_run(store, name))


def _is_of(one: Difference, rubric: str) -> bool:
    return isinstance(one, Listing) or rubric in {one.rubric, one.after}


def _document(one: Difference) -> dict[str, Any]:
    if isinstance(one, Listing):
        return {"server": one.server, "change": "came" if one.came else "went"}
    return {
        "server": one.server,
        "change": "moved",
        "rubric": one.rubric,
        "before": {"name": one.before, "score": _plain(one.old_score), "grade": one.old_grade, "why": one.old_why},
        "after": {"name": one.after, "score": _plain(one.new_score), "grade": one.new_grade, "why": one.new_why},
        "points": _plain(one.points),
        "causes": [cause.value for cause in one.causes],
        "kinds": list(one.kinds),
    }


def _tell(found: Iterator[Difference], pins: Pins, limit: int) -> None:
    grid = table("Server", "Rubric", "Before", "After", ("Points", "right"), "Because of")
    tally = Tally()
    for one in found:
        tally.add(one)
        if isinstance(one, Moved) and (not limit or grid.row_count < limit):
            _add_row(grid, one)
    if grid.row_count:
        show(grid)
    for name, (was, now) in pins.changed.items():
        note(f"{name}: {was or 'none'} → {now or 'none'}")
    moved = tally.up + tally.down + tally.other
    note(
        f"{tally.came} servers came, {tally.went} went; {moved} receipts moved: {tally.up} up, {tally.down} down, "
        f"{tally.other} otherwise" + (f"; the table has the first {limit}" if limit and moved > limit else "")
    )


def _add_row(grid: Table, one: Moved) -> None:
    causes = " and ".join(one.causes) + (f" ({', '.join(one.kinds)})" if one.kinds else "")
    points = "" if one.points is None else signed(one.points)
    row = (one.server, one.after or "", _told(one.old_score, one.old_why, one.old_grade))
    grid.add_row(*map(plain, (*row, _told(one.new_score, one.new_why, one.new_grade), points, causes)))


def _told(score: Decimal | None, why: str | None, grade: str | None) -> str:
    text = f"none: {why}" if score is None else number(score)
    return f"{text} {grade}" if grade else text


def _plain(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")
