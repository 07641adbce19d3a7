"""What becomes of a server that kills its workers: after three tries it is recorded as quarantined, and only it."""

from __future__ import annotations

import asyncio
from typing import Final

from evidence.model import Absent, Reason, Run
from evidence.store import Stage
from workers import pipeline
from workers.context import Context

COLLECTING_CRASHED: Final = "three workers in a row ended while they looked at this server"
SCORING_CRASHED: Final = "three workers in a row ended while they scored this server"


async def quarantine_crashing_servers(ctx: Context, run: Run, stage: Stage) -> None:
    """Record that servers are quarantined that were handed out three times in a part of collecting without an end.

    What other parts find of them is recorded as ever.
    """
    lost = await asyncio.to_thread(ctx.store.list_crash_suspects, run.id, stage, ctx.clock.wall())
    if not lost:
        return
    for server in lost:
        ctx.log.error("server_quarantined", run=run.id, server=server, stage=stage.value)
    await pipeline.record_set_aside(ctx, run, stage, lost, Absent(Reason.QUARANTINED, COLLECTING_CRASHED))


async def record_scoring_crashes(ctx: Context, run: Run) -> None:
    """Note why servers are not scored that were handed out three times for it without an end; no score is made up."""
    lost = await asyncio.to_thread(ctx.store.list_crash_suspects, run.id, Stage.SCORE, ctx.clock.wall())
    if not lost:
        return
    # What a dead worker still seems to hold would else be taken for given back by it.
    await asyncio.to_thread(ctx.store.release_expired_leases, run.id, ctx.clock.wall())
    failures = await asyncio.to_thread(ctx.store.list_failures, run.id)
    noted = {failure.server for failure in failures if failure.last_error == SCORING_CRASHED}
    for server in lost:
        if server not in noted:
            ctx.log.error("server_quarantined", run=run.id, server=server, stage=Stage.SCORE.value)
            await asyncio.to_thread(ctx.store.record_failure, run.id, server, Stage.SCORE, SCORING_CRASHED)
