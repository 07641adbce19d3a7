"""Quarantine for servers that crash workers: after three tries such a server is recorded as quarantined."""

from __future__ import annotations

import asyncio
from typing import Final

from evidence.model import Absent, Reason, Run
from evidence.store import Stage
from workers.context import Context
from workers.nightly import absent_servers

COLLECTING_CRASHED: Final = "three workers in a row ended while they measured this server"
SCORING_CRASHED: Final = "three workers in a row ended while they scored this server"


async def quarantine_crashing_servers(ctx: Context, run: Run, stage: Stage) -> None:
    """Record QUARANTINED for servers that were leased three times in a stage and never finished.

    Other stages of these servers are not affected, nor servers that were leased again meanwhile.
    """
    tokens = await asyncio.to_thread(ctx.store.list_crash_suspects, run.id, stage, ctx.clock.wall())
    if not tokens:
        return
    why = Absent(Reason.QUARANTINED, COLLECTING_CRASHED)
    refused = await absent_servers.record_absent_servers(ctx, run, stage, tokens, why)
    for server in [server for server in tokens if server not in refused]:
        ctx.log.error("server_quarantined", run=run.id, server=server, stage=stage.value)


async def record_scoring_crashes(ctx: Context, run: Run) -> None:
    """Record a failure for servers that were leased three times for scoring and never finished; they get no score."""
    tokens = await asyncio.to_thread(ctx.store.list_crash_suspects, run.id, Stage.SCORE, ctx.clock.wall())
    if not tokens:
        return
    # Release the leases of dead workers first; otherwise recording the failure would count as their release.
    await asyncio.to_thread(ctx.store.release_expired_leases, run.id, ctx.clock.wall())
    failures = await asyncio.to_thread(ctx.store.list_failures, run.id)
    noted = {failure.server for failure in failures if failure.last_error == SCORING_CRASHED}
    for server in [server for server in tokens if server not in noted]:
        item = (run.id, server, Stage.SCORE)
        if await asyncio.to_thread(ctx.store.record_failure, *item, SCORING_CRASHED, tokens=tokens) is not None:
            ctx.log.error("server_quarantined", run=run.id, server=server, stage=Stage.SCORE.value)
