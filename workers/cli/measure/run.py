"""`hallmark run`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from workers import embedded
from workers.cli.display.console import ExitCode, clean_text, open_stderr, print_data, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.extras import PACKAGES, SITE, require_extra
from workers.cli.measure.run_progress import JsonProgress, TerminalProgress
from workers.cli.measure.run_result import show_result
from workers.cli.options import ANY_PATH, only_option, server_limit_option
from workers.cli.results.report import write_pages
from workers.cli.results.servers import make_server_row, read_rows
from workers.cli.session import configure_command_logging
from workers.context import open_context
from workers.embedded import RunResult
from workers.event_loop import run_coroutine
from workers.lossy_stderr import describe_lost_output
from workers.observability.tracing import open_span, traced
from workers.progress import NoDisplay, ProgressDisplay
from workers.runs.options import RunOptions
from workers.settings.environment import RegistrySetting, Settings, read_settings


@click.command()
@click.option(
    "--registry",
    multiple=True,
    help="Registry to read: starter, official, docker, a path, a URL, or a name from the settings. Repeatable.",
)
@server_limit_option
@only_option
@click.option("--fresh", is_flag=True, help="Start a new run instead of resuming an unfinished one.")
@click.option("--report", metavar="DIR", type=ANY_PATH, help="Also write the HTML report when the run is published.")
@click.option("--quiet", "-q", is_flag=True, help="Print no progress, only the result.")
@click.option("--json", "as_json", is_flag=True, help="Events as one JSON object per line, for programs.")
def run(
    *,
    registry: tuple[str, ...],
    limit: int | None,
    only: tuple[str, ...],
    fresh: bool,
    report: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Discover, collect, score and publish every server of the registries.

    Ctrl-C stops a run safely. After that, or after a crash, the same command resumes it.

    Examples:

    hallmark run

    hallmark run --registry official --limit 200 --report ./report

    hallmark run --registry ./servers/ --only "npm:@example/*" --json

    Exit codes: 0 published, 1 Hallmark failed on a server or could not publish, 2 wrong usage, 3 no server was found or
    none could be measured, 130 interrupted.
    """
    with explain_failures():
        require_extra(PACKAGES)
        if report is not None:
            require_extra(SITE)  # before the run, whose report would be missing
        settings = read_settings()
        configure_command_logging(settings)  # events below warnings would break the progress display
        options = RunOptions(registries=_sources(registry, settings), only=only, limit=limit, fresh=fresh)
        result = run_coroutine(_run(settings, options, quiet=quiet, as_json=as_json, report=report))
        raise click.exceptions.Exit(find_exit_code(result))


async def _run(
    settings: Settings, options: RunOptions, *, quiet: bool, as_json: bool, report: Path | None
) -> RunResult:
    async with open_context(settings) as ctx:
        with TerminalProgress(open_stderr()) as display, traced(), open_span("run"):
            progress: ProgressDisplay = JsonProgress() if as_json else NoDisplay() if quiet else display
            result = await embedded.run_embedded(ctx, options, progress)
        first = None
        if report is not None and result.published:
            first = await asyncio.to_thread(write_pages, settings, ctx.store, result.run.id, report)
        elif report is not None:
            print_note(f"No report was written to {report}, since the run is not published.")
        rows = await asyncio.to_thread(read_rows, ctx.store, result.run.id)
        if as_json:
            for row, cards in rows:
                print_json({"event": "server", **make_server_row(row, cards)})
            print_json(_as_event(result, first))
        else:
            show_result(result, rows, settings, first)
            if lost := describe_lost_output():
                print_data(clean_text(lost, "bold red"))
        return result


def _sources(asked: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """The registries to walk. Paths are made absolute, so that the stored options are valid in any folder."""
    if asked:
        named = {known.name for known in settings.registries if isinstance(known, RegistrySetting)}
        return tuple(
            str(Path(item).absolute()) if item not in named and Path(item).exists() else item for item in asked
        )
    return tuple(item.name if isinstance(item, RegistrySetting) else item for item in settings.registries)


def find_exit_code(result: RunResult) -> ExitCode:
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if result.failed:
        return ExitCode.FAILURE  # a bug of Hallmark takes precedence
    if result.planned == 0 or sum(result.absent.values()) >= result.planned:
        return ExitCode.NOTHING
    return ExitCode.OK if result.published else ExitCode.FAILURE


def _as_event(result: RunResult, report: Path | None) -> dict[str, Any]:
    return {
        "event": "result",
        "run": result.run.id,
        "as_of": result.run.as_of.isoformat(),
        "resumed": result.resumed,
        "interrupted": result.interrupted,
        "published": result.published,
        "planned": result.planned,
        "collected": result.collected,
        "scored": result.scored,
        "failed": result.failed,
        "seconds": round(result.seconds, 3),
        "absent": dict(result.absent),
        "outage": result.outage or None,
        "registries": [
            {
                "registry": walk.registry,
                "entries": walk.entries,
                "invalid": walk.invalid,
                "done": walk.done,
                "error": walk.error,
            }
            for walk in result.walks
        ],
        "report": str(report) if report else None,
        "lost_output": describe_lost_output() or None,
        "hint": result.hint,
    }
