"""What a task does with a share of a run: lease servers, collect or score them, give back the rest."""

from __future__ import annotations

import asyncio

from evidence.model import Run
from evidence.store import RunState, Stage
from workers import advisories, pipeline
from workers.context import Context
from workers.flow import Halt
from workers.leases import Leases
from workers.stopping import Stopping, halt_when, never


async def probe_shard(ctx: Context, run_id: str, stopping: Stopping = never) -> None:
    """Lease and collect until nothing can be leased, the task's time is over or the worker is `stopping`."""
    run = await asyncio.to_thread(_planned, ctx, run_id)
    # Every machine has a mirror of its own, and none may look at servers without one that it could have.
    if run is None or not await advisories.keep_fresh(ctx.settings, ctx.clock):
        return
    leases, halt = Leases(ctx, run_id, Stage.COLLECT), Halt()
    watching = asyncio.create_task(halt_when(stopping, halt))
    try:
        async with leases.kept(halt):
            await pipeline.collect_pulled(ctx, run, leases.pull, halt=halt)
            while not halt.is_set() and (few := await leases.pull_suspects()):
                await pipeline.collect(ctx, run, few, halt=halt)
    finally:
        watching.cancel()


async def score_shard(ctx: Context, run_id: str, stopping: Stopping = never) -> None:
    """Lease and score until nothing can be leased, the task's time is over or the worker is `stopping`."""
    run = await asyncio.to_thread(_planned, ctx, run_id)
    if run is None:
        return
    leases, halt = Leases(ctx, run_id, Stage.SCORE), Halt()
    async with leases.kept(halt):
        for pull in (leases.pull, leases.pull_suspects):
            while not stopping() and not halt.is_set() and (servers := await pull()):
                await pipeline.score(ctx, run, servers)


def _planned(ctx: Context, run_id: str) -> Run | None:
    """The run when there is work to do on it; None when it is published or abandoned by now."""
    row = ctx.store.run(run_id)
    return row.run if row is not None and row.state is RunState.PLANNED else None
