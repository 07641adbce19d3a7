"""What a task does with a share of a run: lease servers, collect or score them, give back the rest.

First those that nobody died of, many at a time. Then those that were held when a worker died, a few and in the end one
at a time, so that the one that kills workers is alone when it does. Who was handed out three times is set aside.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from evidence.model import Run
from evidence.store import RunState, Stage
from workers import pipeline
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination import expired_leases
from workers.coordination.circuit_breaker import (
    CircuitBreaker,
    HostCircuitBreaker,
    HostFailures,
    LocalHostFailures,
    NoCircuitBreaker,
)
from workers.coordination.leases import Leases
from workers.nightly import quarantine
from workers.shutdown import IsStopping, halt_when, never_stops
from workers.wiring import advisory_mirror


async def collect_shard(
    ctx: Context, run_id: str, stage: Stage, stopping: IsStopping = never_stops, silence: HostFailures | None = None
) -> None:
    """Lease and collect until nothing can be leased, the task's time is over or the worker is `stopping`.

    `silence` is what is known of hosts that do not answer, by default what this task meets.
    """
    run = await asyncio.to_thread(_planned, ctx, run_id)
    # Every machine has a mirror of its own, and none may look at servers without one that it could have.
    if run is None or (
        stage is not Stage.GITHUB and not await advisory_mirror.refresh_when_due(ctx.settings, ctx.clock)
    ):
        return
    breaker = _breaker(ctx, stage, silence)
    async with _working(ctx, run_id, stage, stopping) as (leases, halt):
        await pipeline.collect_pulled(ctx, run, leases.pull, stage=stage, halt=halt, breaker=breaker)
        while not halt.is_set() and (few := await leases.pull_suspects()):
            pull = pipeline.pull_once(few)
            await pipeline.collect_pulled(ctx, run, pull, stage=stage, halt=halt, breaker=breaker)
        await quarantine.quarantine_crashing_servers(ctx, run, stage)


async def score_shard(ctx: Context, run_id: str, stopping: IsStopping = never_stops) -> None:
    """Lease and score until nothing can be leased, the task's time is over or the worker is `stopping`."""
    run = await asyncio.to_thread(_planned, ctx, run_id)
    if run is None:
        return
    async with _working(ctx, run_id, Stage.SCORE, stopping) as (leases, halt):
        for pull in (leases.pull, leases.pull_suspects):
            while not halt.is_set() and (servers := await pull()):
                await pipeline.score(ctx, run, servers, halt=halt)
        await quarantine.record_scoring_crashes(ctx, run)


@asynccontextmanager
async def _working(ctx: Context, run_id: str, stage: Stage, stopping: IsStopping) -> AsyncIterator[tuple[Leases, Halt]]:
    leases, halt = Leases(ctx, run_id, stage), Halt()
    watching = asyncio.create_task(halt_when(stopping, halt))
    try:
        async with leases.kept(halt):
            yield leases, halt
    finally:
        watching.cancel()


def _breaker(ctx: Context, stage: Stage, silence: HostFailures | None) -> CircuitBreaker:
    """Only a probe visits nothing but the host; who starts a package has something to do while its host is silent."""
    if stage is not Stage.PROBE:
        return NoCircuitBreaker()
    settings = ctx.settings
    known = silence or LocalHostFailures(ctx.clock, settings.host_failures, settings.host_rest)
    return HostCircuitBreaker(ctx.store, ctx.clock, known, settings.host_rest)


def _planned(ctx: Context, run_id: str) -> Run | None:
    """The run when there is work to do on it, with nothing held by the dead; None when it is paused or over by now."""
    row = ctx.store.find_run(run_id)
    if row is None or row.state is not RunState.PLANNED:
        return None
    expired_leases.release_expired_leases(ctx, run_id)  # the message of a process that died comes back at once
    return row.run
