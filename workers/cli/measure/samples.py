"""`hallmark samples`."""

from __future__ import annotations

import click
from msgspec.structs import asdict

from workers.cli.display.console import ExitCode, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.options import json_document_option
from workers.cli.session import configure_command_logging
from workers.context import open_context
from workers.event_loop import run_coroutine
from workers.settings.environment import Settings, read_settings
from workers.stages import availability_samples
from workers.stages.availability_samples import SamplingResult


@click.command()
@json_document_option
def samples(as_json: bool) -> None:
    """Test the availability of every remote that is due: connect once and store whether it answered.

    A sample opens a connection and asks nothing else. Stability is the share of samples that succeeded within 30 days;
    the next run counts them. Call this command every few minutes; HALLMARK_LIGHT_EVERY sets when a remote is due.

    Examples:

    hallmark samples

    hallmark samples --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage.
    """
    with explain_failures():
        settings = read_settings()
        configure_command_logging(settings)
        done = run_coroutine(_sample(settings))
        if as_json:
            print_json(asdict(done))
        else:
            print_note(f"{done.due} remotes were due; {done.taken} samples were stored, {done.failed} of them failed")
        raise click.exceptions.Exit(ExitCode.OK)


async def _sample(settings: Settings) -> SamplingResult:
    async with open_context(settings) as ctx:
        return await availability_samples.sample_due_servers(ctx)
