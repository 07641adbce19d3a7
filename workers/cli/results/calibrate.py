"""`hallmark calibrate`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from evidence.store import RunRow, Store, StoredScorecard
from publish.text.numbers import format_number, format_percent
from scoring import calibration
from scoring.calibration import BIN_WIDTH, CalibrationTable, Distribution, GradeShare
from scoring.engine import catalogue
from scoring.engine.rubric import Rubric
from workers.cli.display.console import (
    ExitCode,
    exit_with_error,
    make_fact_table,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.options import ANY_PATH, json_document_option
from workers.cli.session import find_run, open_read_store

BATCH: Final = 200
BAR_WIDTH: Final = 50
_UNKNOWN: Final = "unknown"


@click.command()
@click.argument("run", default="latest", help="Id of a run, the beginning of one, or `latest`, the default.")
@click.option("--corpus", metavar="NAME", help="Name of the corpus in the table. Default: the id of the run.")
@click.option("--output", metavar="FILE", type=ANY_PATH, help="Also write the table as JSON.")
@json_document_option
def calibrate(run: str, *, corpus: str | None, output: Path | None, as_json: bool) -> None:
    """Show the distribution of a run's scores and propose cut-offs of grades.

    The scores are those of the default rubric; servers without one do not count. Shares are first given under the
    published cut-offs. The proposed ones let the best 5 % reach A+, 20 % A, 45 % B, 70 % C, 85 % D and 95 % E.

    Examples:

    hallmark calibrate latest

    hallmark calibrate 20261125T2155 --corpus starter-2026-11 --output starter-2026-11.json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 no such run, or no adaptive score in it.
    """
    with open_read_store() as store:
        row = find_run(store, run)
        rubric = _find_default_rubric()
        cards = list(_read_cards(store, row, rubric))
    table = _make_table(row, rubric, cards, corpus or row.run.id)
    document = calibration.make_document(table, rubric.bands)
    if output is not None:
        output.write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")
        print_note(f"table written to {output}")
    if as_json:
        print_json({**document, "without_score": len(cards) - len(table.values)})
    else:
        _show(table, rubric, missing=len(cards) - len(table.values))


def _find_default_rubric() -> Rubric:
    return max((one for one in catalogue.list_rubrics() if one.default and one.bands), key=lambda one: one.version)


def _read_cards(store: Store, row: RunRow, rubric: Rubric) -> Iterator[StoredScorecard]:
    servers = iter(store.list_planned_servers(row.run.id))
    while batch := list(islice(servers, BATCH)):
        for card in store.read_scorecards(row.run.id, servers=batch):
            if (card.rubric, card.version) == (rubric.id, rubric.version):
                yield card


def _make_table(row: RunRow, rubric: Rubric, cards: Sequence[StoredScorecard], corpus: str) -> CalibrationTable:
    values = tuple(sorted(card.score for card in cards if card.score is not None))
    if not values:
        exit_with_error(
            f"no server of run {row.run.id} has a score under {rubric.name}. `hallmark rescore {row.run.id}` scores it "
            "with the rules of this version",
            ExitCode.NOTHING,
        )
    return CalibrationTable(
        corpus=corpus,
        rubric=rubric.id,
        version=rubric.version,
        ruleset=row.run.pins.get("ruleset", _UNKNOWN),
        run=row.run.id,
        as_of=row.run.as_of,
        values=values,
    )


def _show(table: CalibrationTable, rubric: Rubric, *, missing: int) -> None:
    figures = calibration.describe_distribution(table.values)
    published = calibration.count_grades(table.values, rubric.bands)
    print_data(make_fact_table(_list_facts(table, rubric, figures, missing)))
    print_data("")
    _show_grades(published, calibration.count_grades(table.values, table.cutoffs))
    print_data("")
    _show_bins(figures)
    for share in published:
        if share.count * 2 > figures.count:
            print_note(f"more than half of the values have the grade {share.grade}: its bounds do not tell them apart")


def _list_facts(table: CalibrationTable, rubric: Rubric, figures: Distribution, missing: int) -> list[tuple[str, str]]:
    return [
        ("corpus", table.corpus),
        ("run", f"{table.run}, as of {table.as_of:%Y-%m-%d}"),
        ("rubric", f"{rubric.name}, rules {table.ruleset}"),
        ("values", f"{figures.count}, and {missing} servers without a score"),
        ("mean", f"{format_number(figures.mean)}, standard deviation {format_number(figures.deviation)}"),
        ("deciles", " ".join(map(format_number, figures.deciles))),
    ]


def _show_grades(published: Sequence[GradeShare], proposed: Sequence[GradeShare]) -> None:
    counts: Any = (("From", "right"), ("Servers", "right"), ("Share", "right"))
    grid = make_table("Grade", *counts, ("Proposed", "right"), *counts[1:])
    for old, new in zip(published, proposed, strict=True):
        grid.add_row(old.grade, *_cells(old), *_cells(new))
    print_data(grid)


def _cells(share: GradeShare) -> tuple[str, str, str]:
    return format_number(share.bound), str(share.count), format_percent(share.share)


def _show_bins(figures: Distribution) -> None:
    """A histogram whose longest bar has BAR_WIDTH characters; every value can be seen."""
    tallest = max(figures.bins)
    grid = make_table(("Values", "right"), ("Servers", "right"), "")
    for number, count in enumerate(figures.bins):
        low, last = number * BIN_WIDTH, number == len(figures.bins) - 1
        grid.add_row(f"{low}-{low + BIN_WIDTH - (not last)}", str(count), "#" * -(-count * BAR_WIDTH // tallest))
    print_data(grid)
