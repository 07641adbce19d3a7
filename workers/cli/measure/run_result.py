"""The result of a run on a terminal: scores, reasons of absence, paths, and the next command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evidence.model import Reason
from publish.views.absence_advice import advise_on_absence
from publish.views.server_summary import ServerRow
from scoring.results.scorecard import Scorecard
from workers.cli.display.console import clean_text, make_fact_table, make_table, print_data, print_note
from workers.cli.results.servers import make_server_table, rank_row
from workers.embedded import RunResult
from workers.settings.environment import Settings

MAX_SERVERS_SHOWN = 40


def show_result(
    result: RunResult, rows: Sequence[tuple[ServerRow, Sequence[Scorecard]]], settings: Settings, report: Path | None
) -> None:
    if result.outage:
        print_data(clean_text(result.outage, "bold red"))
        print_data("")
    best = sorted(rows, key=lambda row: rank_row(row[0]))
    if best:
        print_data(make_server_table(best[:MAX_SERVERS_SHOWN]))
        print_data("")
    if len(best) > MAX_SERVERS_SHOWN:
        print_note(f"{len(best) - MAX_SERVERS_SHOWN} more servers: hallmark list")
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


def _show_reasons(result: RunResult) -> None:
    grid = make_table(("Servers", "right"), "Could not be tested", "What it means")
    for reason, count in sorted(result.absent.items(), key=lambda item: (-item[1], item[0])):
        grid.add_row(str(count), reason.replace("_", " "), clean_text(advise_on_absence(Reason(reason)).means))
    print_data(grid)
    print_data("")


def _paths(result: RunResult, settings: Settings, report: Path | None) -> list[tuple[str, str]]:
    state = "published" if result.published else "interrupted" if result.interrupted else "not published"
    done = f"{result.scored} of {result.planned} servers scored, {sum(result.absent.values())} could not be tested"
    pairs = [
        ("run", f"{result.run.id}, {state}" + (", resumed" if result.resumed else "")),
        ("result", f"{done}, {result.seconds:.1f} s"),
    ]
    if settings.database_url is None:
        pairs.append(("database", str(settings.home / "hallmark.db")))
    if report is not None:
        pairs.append(("report", str(report.absolute())))
    return pairs
