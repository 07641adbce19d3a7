"""`hallmark diff`: changed scores between two snapshots or runs, with their causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from publish.datasets.differences.scores import (
    ComparedRows,
    Difference,
    DifferenceCounts,
    ListingChange,
    PinChanges,
    ScoreMove,
    SnapshotRows,
    find_differences,
)
from publish.datasets.differences.stored_run import StoredRunRows
from publish.datasets.snapshot.manifest import NotASnapshot
from publish.datasets.snapshot.reader import UnreadableFile, open_snapshot
from publish.text.numbers import format_number
from publish.views.headlines import Turn, find_turn
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.display.verdicts import format_change
from workers.cli.error_boundary import explain_failures
from workers.cli.session import find_run, open_read_store


@click.command()
@click.argument("before", metavar="A", help="Folder of a snapshot, or a run of the store.")
@click.argument("after", metavar="B", help="The same, later.")
@click.option("--rubric", metavar="NAME", help="Only this methodology.")
@click.option("--limit", type=click.IntRange(min=0), default=50, help="Maximum number of rows in the table; 0: all.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line for each changed receipt.")
def diff(before: str, after: str, *, rubric: str | None, limit: int, as_json: bool) -> None:
    """Show changed scores between two snapshots or runs, with their causes: evidence, rules or the methodology.

    The causes follow from the digests of the evidence and from the versions of rules and rubrics. Of runs only public
    data is compared.

    Examples:

    hallmark diff ./yesterday ./today

    hallmark diff 20260301T0300 latest --json
    """
    with explain_failures(), _side(before) as one, _side(after) as other:
        try:
            found = (each for each in find_differences(one, other) if not rubric or _is_of(each, rubric))
            if as_json:
                for each in found:
                    print_json(_document(each))
            else:
                _print(found, PinChanges(one.pins, other.pins), limit)
        except UnreadableFile as error:
            exit_with_error(str(error))


@contextmanager
def _side(name: str) -> Iterator[ComparedRows]:
    if Path(name).is_dir():
        try:
            yield SnapshotRows(open_snapshot(Path(name)))
        except NotASnapshot as error:
            exit_with_error(str(error), ExitCode.USAGE)
        return
    with open_read_store() as store:
        yield StoredRunRows(store, find_run(store, name))


def _is_of(one: Difference, rubric: str) -> bool:
    return isinstance(one, ListingChange) or rubric in {one.rubric, one.after}


def _document(one: Difference) -> dict[str, Any]:
    if isinstance(one, ListingChange):
        return {"server": one.server, "change": "came" if one.came else "went"}
    return {
        "server": one.server,
        "change": "moved",
        "rubric": one.rubric,
        "before": {"name": one.before, "score": _plain(one.old_score), "grade": one.old_grade, "why": one.old_why},
        "after": {"name": one.after, "score": _plain(one.new_score), "grade": one.new_grade, "why": one.new_why},
        "points": _plain(one.points),
        "turn": None if (turn := find_turn(one.old_score, one.new_score)) is None else turn.value,
        "causes": [cause.value for cause in one.causes],
        "kinds": list(one.kinds),
    }


def _print(found: Iterator[Difference], pins: PinChanges, limit: int) -> None:
    grid = make_table("Server", "Rubric", "Before", "After", ("Points", "right"), "Causes")
    tally, turns = DifferenceCounts(), Counter[Turn | None]()
    for one in found:
        tally.add(one)
        turns[find_turn(one.old_score, one.new_score) if isinstance(one, ScoreMove) else None] += 1
        if isinstance(one, ScoreMove) and (not limit or grid.row_count < limit):
            _add_row(grid, one)
    if grid.row_count:
        print_data(grid)
    for name, (was, now) in pins.changed.items():
        print_note(f"{name}: {was or 'none'} → {now or 'none'}")
    moved = tally.up + tally.down + tally.other
    print_note(
        f"{tally.came} servers added, {tally.went} removed; {moved} receipts changed: {tally.up} up, "
        f"{tally.down} down, {tally.other - turns[Turn.LOST_SCORE] - turns[Turn.GAINED_SCORE]} otherwise, "
        f"{turns[Turn.LOST_SCORE]} lost their score, {turns[Turn.GAINED_SCORE]} have a score now"
        + (f"; the table has the first {limit}" if limit and moved > limit else "")
    )


def _add_row(grid: Table, one: ScoreMove) -> None:
    causes = " and ".join(one.causes) + (f" ({', '.join(one.kinds)})" if one.kinds else "")
    points = format_change(one.old_score, one.new_score)
    row = (one.server, one.after or "", _score(one.old_score, one.old_why, one.old_grade))
    grid.add_row(*map(clean_text, (*row, _score(one.new_score, one.new_why, one.new_grade), points, causes)))


def _score(score: Decimal | None, why: str | None, grade: str | None) -> str:
    text = f"none: {why}" if score is None else format_number(score)
    return f"{text} {grade}" if grade else text


def _plain(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")
