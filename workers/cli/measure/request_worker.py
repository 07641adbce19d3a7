"""`hallmark attend`."""

from __future__ import annotations

import asyncio

import click

from workers.cli.display.console import print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.extras import PACKAGES, require_extra
from workers.context import open_context
from workers.event_loop import run_coroutine
from workers.settings.environment import is_set, read_settings


@click.command()
@click.option(
    "--every", metavar="SECONDS", type=click.FloatRange(min=1), help="Repeat after this many seconds, until Ctrl-C."
)
def attend(every: float | None) -> None:
    """Process requests of the site's visitors where there are no workers: re-tests, proofs of control, webhooks.

    Do not use it with workers, which process these requests themselves.

    Example: hallmark attend --every 30
    """
    from workers import log  # noqa: PLC0415
    from workers.community.request_worker import process_requests as once  # noqa: PLC0415  imports the whole crawler

    async def work() -> None:
        async with open_context(settings) as ctx:
            while True:
                done = await once(ctx)
                print_note(f"{done.retests} re-tests, {done.proofs} proofs checked, {done.messages} messages sent")
                if every is None:
                    return
                await asyncio.sleep(every)

    with explain_failures():
        require_extra(PACKAGES)
        settings = read_settings()
        log.configure_logging(settings.log_level if is_set("log_level") else "warning", "auto")
        run_coroutine(work())
