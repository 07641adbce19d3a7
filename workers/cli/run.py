"""`hallmark run`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from publish.report import write_report
from workers import embedded, log
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, err
from workers.cli.run_display import Display, Events
from workers.cli.run_result import show_result
from workers.cli.servers import as_row, read_rows
from workers.context import open_context
from workers.embedded import RunResult
from workers.loop import run_loop
from workers.options import RunOptions
from workers.progress import Progress, Unwatched
from workers.settings import RegistrySetting, Settings

app = typer.Typer(add_completion=False)


@app.command()
def run(
    *,
    registry: Annotated[
        list[str] | None,
        typer.Option(
            help="What to walk: starter, official, docker, a path, a URL, or a name from the settings. Repeatable."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many servers, the first by id.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only servers whose id, reference or name fits; * allowed."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start a new run instead of resuming an unfinished one.")
    ] = False,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Also write the HTML report.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; only the result.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as one JSON object per line, for programs.")] = False,
) -> None:
    """Discover, collect, score and publish every server of the registries.

    Ctrl-C stops it safely, and so does a crash: the same command goes on where it was.

    Examples:

    hallmark run

    hallmark run --registry official --limit 200 --report ./report

    hallmark run --registry ./servers/ --only "npm:@example/*" --json

    Exit codes: 0 published, 1 Hallmark failed on a server or could not publish, 2 wrong usage, 3 no server was found or
    none could be measured, 130 interrupted.
    """
    with explained():
        settings = Settings()
        log.configure(_level(settings), settings.log_format)
        options = RunOptions(registries=_sources(registry, settings), only=tuple(only or ()), limit=limit, fresh=fresh)
        result = run_loop(_run(settings, options, quiet=quiet, as_json=as_json, report=report))
        raise typer.Exit(exit_code(result))


async def _run(
    settings: Settings, options: RunOptions, *, quiet: bool, as_json: bool, report: Path | None
) -> RunResult:
    async with open_context(settings) as ctx:
        with Display(err()) as display:
            progress: Progress = Events() if as_json else Unwatched() if quiet else display
            result = await embedded.run(ctx, options, progress)
        first = None
        if report is not None and result.scored:
            first = await asyncio.to_thread(write_report, ctx.store, result.run.id, report)
        rows = await asyncio.to_thread(read_rows, ctx.store, result.run.id)
        if as_json:
            for row, cards in rows:
                emit({"event": "server", **as_row(row, cards)})
            emit(_as_event(result, first))
        else:
            show_result(result, rows, settings, first)
        return result


def _sources(asked: list[str] | None, settings: Settings) -> tuple[str, ...]:
    """What to walk; a path is made absolute, so that the stored options mean the same from any folder."""
    if asked:
        named = {known.name for known in settings.registries if isinstance(known, RegistrySetting)}
        return tuple(
            str(Path(item).absolute()) if item not in named and Path(item).exists() else item for item in asked
        )
    return tuple(item.name if isinstance(item, RegistrySetting) else item for item in settings.registries)


def _level(settings: Settings) -> str:
    """Events below warnings would tear the progress display apart; whoever sets a level gets it."""
    return settings.log_level if "log_level" in settings.model_fields_set else "warning"


def exit_code(result: RunResult) -> Exit:
    """How the command ends after a run."""
    if result.interrupted:
        return Exit.INTERRUPTED
    if result.failed:
        return Exit.FAILURE  # whatever else there is to say, something of ours is broken
    if result.planned == 0 or sum(result.absent.values()) >= result.planned:
        return Exit.NOTHING
    return Exit.OK if result.published else Exit.FAILURE


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
        "hint": result.hint,
    }
