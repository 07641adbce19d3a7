"""`hallmark rescore`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import click

from evidence.store import RunRow, Store
from publish.text.numbers import format_number, format_signed
from publish.views.comparisons.score_moves import ChargeShift, ScoreMove
from publish.views.headlines import find_turn
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    open_stderr,
    print_data,
    print_json,
    print_note,
)
from workers.cli.display.verdicts import format_change
from workers.cli.options import json_lines_option, rubric_option
from workers.cli.rubric_selection import select_rubrics
from workers.cli.session import find_run, open_read_store
from workers.clock import clock_at
from workers.rescoring import EvidenceExpired, RescoreResult, compare_runs, score_run_again
from workers.settings.environment import read_settings

SHIFTS = 3
"""Published ids shown for each changed score; --json has all."""


@click.command()
@click.argument("run", default="latest", help="Id of a run, the beginning of one, or `latest`, the default.")
@rubric_option
@click.option("--limit", type=click.IntRange(min=0), default=40, help="How many changes to print, the largest first.")
@json_lines_option
def rescore_run(run: str, rubric: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Score a stored run again with the rules of this version, and print changed scores with their causes.

    No network is used and nothing is overwritten: the result is a new run that shares the evidence and pins the current
    versions. With all rubrics it replaces the run as `latest`; with some rubrics read it with --run.

    Examples:

    hallmark rescore

    hallmark rescore 20261121T030000Z --rubric lint@2 --rubric tool_design@2

    hallmark rescore --json

    Exit codes: 0 done, 1 a rule failed on a server, 2 wrong usage, 3 no such run, or its records were dropped.
    """
    with open_read_store() as store:
        rubrics = select_rubrics(rubric) if rubric else []
        source = find_run(store, run)
        settings = read_settings()
        with open_stderr().status("scoring") as status:
            done = Counter[str]()

            def progress(count: int) -> None:
                done["servers"] += count
                status.update(f"scored {done['servers']} servers again")

            wall = clock_at(settings.clock).wall
            try:
                result = score_run_again(
                    store, source, rubrics=rubrics, commit=settings.commit, wall=wall, progress=progress
                )
            except EvidenceExpired as error:
                exit_with_error(str(error), ExitCode.NOTHING)
        found = sorted(compare_runs(store, source.run.id, result.run.id), key=_largest)
        _print(store, source, result, found, limit=limit, as_json=as_json)
        raise click.exceptions.Exit(ExitCode.FAILURE if result.failed or not result.published else ExitCode.OK)


def _print(
    store: Store, source: RunRow, result: RescoreResult, found: Sequence[ScoreMove], *, limit: int, as_json: bool
) -> None:
    refs = {server.id: server.ref for server in store.find_servers(sorted({move.server for move in found}))}
    if as_json:
        for move in found:
            print_json(_as_json(move, refs[move.server]))
        print_json(_as_result(source, result, found))
        return
    if found:
        grid = make_table("Server", "From", ("Score", "right"), "To", ("Score", "right"), ("Points", "right"), "By")
        for move in found[:limit]:
            grid.add_row(
                clean_text(refs[move.server]),
                move.before or "",
                _text(move.old_score, move.old_grade),
                move.after,
                _text(move.new_score, move.new_grade),
                format_change(move.old_score, move.new_score),
                clean_text(", ".join(_words(shift) for shift in _list_shifts(move)[:SHIFTS])),
            )
        print_data(grid)
    if len(found) > limit:
        print_note(f"{len(found) - limit} more changes: raise --limit, or use --json for all")
    for server, error in result.failed.items():
        print_note(f"{server} could not be scored: {error}")
    if result.dropped:
        print_note(f"{result.dropped} servers are left out: their records of that run were deleted")
    servers = len({move.server for move in found})
    print_note(f"run {result.run.id}: {servers} of {result.servers} servers changed, compared with run {source.run.id}")


def _largest(move: ScoreMove) -> tuple[Any, ...]:
    points = Decimal(100) if move.points is None else abs(move.points)
    return -points, move.after, move.server


def _text(score: Decimal | None, grade: str | None) -> str:
    return "no score" if score is None else f"{format_number(score)} {grade or ''}".strip()


def _list_shifts(move: ScoreMove) -> Sequence[ChargeShift]:
    """The charges that differ; none without a score on one of the sides."""
    return () if move.points is None else move.shifts


def _words(shift: ChargeShift) -> str:
    return f"{format_signed(shift.points)} {shift.cites}"


def _as_json(move: ScoreMove, ref: str) -> dict[str, Any]:
    return {
        "event": "move",
        "server": move.server,
        "ref": ref,
        "from": {"rubric": move.before, "score": _plain(move.old_score), "grade": move.old_grade},
        "to": {"rubric": move.after, "score": _plain(move.new_score), "grade": move.new_grade},
        "points": _plain(move.points),
        "turn": None if (turn := find_turn(move.old_score, move.new_score)) is None else turn.value,
        "shifts": [
            {
                "cites": shift.cites,
                "points": format(shift.points, "f"),
                "came": shift.came,
                "went": shift.went,
                "at": shift.at,
            }
            for shift in _list_shifts(move)
        ],
    }


def _as_result(source: RunRow, result: RescoreResult, found: Sequence[ScoreMove]) -> dict[str, Any]:
    return {
        "event": "result",
        "run": result.run.id,
        "of": source.run.id,
        "servers": result.servers,
        "dropped": result.dropped,
        "moved": len({move.server for move in found}),
        "failed": dict(result.failed),
        "published": result.published,
    }


def _plain(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")
