"""`hallmark samples`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from workers import log
from workers.cli.display.console import ExitCode, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.context import open_context
from workers.event_loop import run_coroutine
from workers.settings.environment import Settings
from workers.stages import availability_samples
from workers.stages.availability_samples import SamplingResult

app = typer.Typer(add_completion=False)


@app.command()
def samples(as_json: Annotated[bool, typer.Option("--json", help="One JSON document, for programs.")] = False) -> None:
    """Connect once to every remote that is due, and keep whether it answered.

    The next run counts what was kept: stability is the share of attempts that succeeded within 30 days. Nothing but the
    opening is asked. Meant to be called every few minutes; HALLMARK_LIGHT_EVERY says how often one remote is due.

    Examples:

    hallmark samples

    hallmark samples --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage.
    """
    with explain_failures():
        settings = Settings()
        log.configure_logging(
            settings.log_level if "log_level" in settings.model_fields_set else "warning", settings.log_format
        )
        done = run_coroutine(_check(settings))
        if as_json:
            print_json(asdict(done))
        else:
            print_note(f"{done.due} remotes were due; {done.taken} attempts were kept, {done.failed} of them failed")
        raise typer.Exit(ExitCode.OK)


async def _check(settings: Settings) -> SamplingResult:
    async with open_context(settings) as ctx:
        return await availability_samples.sample_due_servers(ctx)
