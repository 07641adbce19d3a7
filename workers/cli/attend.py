"""`hallmark attend`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from workers.cli.boundary import explained
from workers.cli.console import note
from workers.context import open_context
from workers.loop import run_loop
from workers.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def attend(
    every: Annotated[
        float | None, typer.Option(min=1, metavar="SECONDS", help="Do so again and again, until Ctrl-C.")
    ] = None,
) -> None:
    """Do what people asked for on the site: re-tests that are due, proofs of control, webhooks.

    Only without workers: where there are any, beat has them do it.

    Example: hallmark attend --every 30
    """
    from workers import log  # noqa: PLC0415
    from workers.attending import attend as once  # noqa: PLC0415  the wire, which the overview does not need

    async def work() -> None:
        async with open_context(settings) as ctx:
            while True:
                done = await once(ctx)
                note(f"{done.retests} re-tests, {done.proofs} proofs looked for, {done.messages} messages sent")
                if every is None:
                    return
                await asyncio.sleep(every)

    with explained():
        settings = Settings()
        log.configure("warning" if "log_level" not in settings.model_fields_set else settings.log_level, "auto")
        run_loop(work())
