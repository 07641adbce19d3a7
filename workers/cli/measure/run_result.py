"""The result of a run on a terminal: scores, reasons of absence, paths, and the next command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from evidence.model import Reason
from publish.text.numbers import format_percent
from publish.views.absence_advice import advise_on_absence
from publish.views.server_summary import ServerRow
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict
from workers.cli.display.console import clean_text, make_fact_table, make_table, open_stdout, print_data, print_note
from workers.cli.display.verdicts import format_range, format_score
from workers.cli.results.servers import format_outcome, rank_row
from workers.embedded import RunResult
from workers.settings.environment import Settings

MAX_SERVERS_SHOWN = 40
_LEAST_NAME, _NAME = 16, 48
_OTHER_COLUMNS = 58
"""The widest that the other columns get."""


def show_result(
    result: RunResult, rows: Sequence[tuple[ServerRow, Sequence[Scorecard]]], settings: Settings, report: Path | None
) -> None:
    if result.outage:
        print_data(clean_text(result.outage, "bold red", limit=1000))
        print_data("")
    best = sorted(rows, key=lambda row: rank_row(row[0]))
    if best:
        print_data(make_run_table(best[:MAX_SERVERS_SHOWN]))
        print_data("")
        more = f"{len(best) - MAX_SERVERS_SHOWN} more servers and the" if len(best) > MAX_SERVERS_SHOWN else "The"
        print_note(f"{more} scores under other methodologies: hallmark list")
    if result.absent:
        _show_reasons(result)
    for walk in result.walks:
        if walk.error:
            print_note(f"registry {walk.registry} could not be read to its end: {walk.error}")
        if walk.invalid:
            invalid = f"{walk.invalid} of {walk.entries} entries are invalid"
            print_note(f"registry {walk.registry}: {invalid}; hallmark list --absent invalid_registration")
    print_data(make_fact_table(_paths(result, settings, report)))
    if result.hint:
        print_note(result.hint)
    elif best:
        print_note(f"Next: hallmark show {best[0][0].ref}" + ("" if report else "; hallmark report latest ./report"))


def make_run_table(rows: Sequence[tuple[ServerRow, Sequence[Scorecard]]]) -> Table:
    """One line for each server with score and range under the first methodology; it fits 80 columns and more."""
    grid = make_table(
        "Server", ("Score", "right"), ("Range", "right"), ("Measured", "right"), ("Tools", "right"), "Outcome"
    )
    width = max(_LEAST_NAME, min(_NAME, open_stdout().width - _OTHER_COLUMNS))
    for row, cards in rows:
        verdict = read_verdict(cards[0]) if cards else None
        name = clean_text(row.name or row.ref).plain
        scored = verdict is not None and verdict.value is not None
        grid.add_row(
            Text(name if len(name) <= width else f"…{name[1 - width :]}"),  # the end says more than the namespace
            _format_value(cards[0]) if scored else Text(""),
            format_range(verdict) if verdict else "",
            format_percent(verdict.coverage) if verdict else "",
            "" if row.tools is None else str(row.tools),
            format_outcome(row),
        )
    return grid


def _format_value(card: Scorecard) -> Text:
    """The score without its floor, which the range has."""
    text = format_score(card)
    return text[: text.plain.find(" ≥")] if " ≥" in text.plain else text


def _show_reasons(result: RunResult) -> None:
    grid = make_table(("Servers", "right"), "Could not be tested", "What it means")
    for reason, count in sorted(result.absent.items(), key=lambda item: (-item[1], item[0])):
        grid.add_row(str(count), reason.replace("_", " "), clean_text(advise_on_absence(Reason(reason)).means))
    print_data(grid)
    print_data("")


def _paths(result: RunResult, settings: Settings, report: Path | None) -> list[tuple[str, str]]:
    state = "published" if result.published else "interrupted" if result.interrupted else "not published"
    untested = sum(result.absent.values())
    done = f"{result.scored} of {result.planned} servers scored, {untested} of them could not be tested"
    pairs = [
        ("run", f"{result.run.id}, {state}" + (", resumed" if result.resumed else "")),
        ("result", f"{done}, {result.seconds:.1f} s"),
    ]
    if settings.database_url is None:
        pairs.append(("database", str(settings.home / "hallmark.db")))
    if report is not None:
        pairs.append(("report", str(report.absolute())))
    return pairs
