"""`hallmark samples`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from workers import light_checks, log
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, note
from workers.context import open_context
from workers.light_checks import Checked
from workers.loop import run_loop
from workers.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def samples(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document, for programs.")] = False,
) -> None:
    """Connect once to every remote that is due, and keep whether it answered.

    The next run counts what was kept: stability is the share of attempts that succeeded within 30 days. Nothing but the
    opening is asked. Meant to be called every few minutes; HALLMARK_LIGHT_EVERY says how often one remote is due.

    Examples:

    hallmark samples

    hallmark samples --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage.
    """
    with explained():
        settings = Settings()
        log.configure(
            settings.log_level if "log_level" in settings.model_fields_set else "warning", settings.log_format
        )
        done = run_loop(_check(settings))
        if as_json:
            emit(asdict(done))
        else:
            note(f"{done.due} remotes were due; {done.taken} attempts were kept, {done.failed} of them failed")
        raise typer.Exit(Exit.OK)


async def _check(settings: Settings) -> Checked:
    async with open_context(settings) as ctx:
        return await light_checks.check(ctx)
