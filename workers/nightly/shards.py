"""The work of one task on a run: lease servers, collect or score them, release the rest.

First come servers that were not leased when a worker crashed, many at a time. Suspected crashers follow, a few and then
one at a time, so that a server which crashes workers runs alone. After three tries it is quarantined.
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
from workers.shutdown import IsStopping, never_stops, open_halt
from workers.wiring import advisory_mirror


async def collect_shard(
    ctx: Context,
    run_id: str,
    stage: Stage,
    stopping: IsStopping = never_stops,
    host_failures: HostFailures | None = None,
) -> None:
    """Lease and collect until nothing can be leased, the task's time is over or the worker is `stopping`.

    `host_failures` counts hosts that do not answer, by default within this task only.
    """
    run = await asyncio.to_thread(_planned, ctx, run_id)
    # Every machine has its own advisory mirror, and collects nothing before it has one.
    if run is None or (
        stage is not Stage.GITHUB and not await advisory_mirror.refresh_when_due(ctx.settings, ctx.clock)
    ):
        return
    breaker = _breaker(ctx, stage, host_failures)
    async with _working(ctx, run_id, stage, stopping) as (leases, halt):
        await pipeline.collect_pulled(ctx, run, leases.pull, stage=stage, halt=halt, breaker=breaker, leases=leases)
        while not halt.is_set() and (few := await leases.pull_suspects()):
            pull = pipeline.pull_once(few)
            await pipeline.collect_pulled(ctx, run, pull, stage=stage, halt=halt, breaker=breaker, leases=leases)
        await quarantine.quarantine_crashing_servers(ctx, run, stage)


async def score_shard(ctx: Context, run_id: str, stopping: IsStopping = never_stops) -> None:
    """Lease and score until nothing can be leased, the task's time is over or the worker is `stopping`."""
    run = await asyncio.to_thread(_planned, ctx, run_id)
    if run is None:
        return
    async with _working(ctx, run_id, Stage.SCORE, stopping) as (leases, halt):
        for pull in (leases.pull, leases.pull_suspects):
            while not halt.is_set() and (servers := await pull()):
                await pipeline.score(ctx, run, servers, halt=halt, leases=leases)
        await quarantine.record_scoring_crashes(ctx, run)


@asynccontextmanager
async def _working(ctx: Context, run_id: str, stage: Stage, stopping: IsStopping) -> AsyncIterator[tuple[Leases, Halt]]:
    leases = Leases(ctx, run_id, stage)
    async with open_halt(stopping) as halt, leases.hold(halt):
        yield leases, halt


def _breaker(ctx: Context, stage: Stage, host_failures: HostFailures | None) -> CircuitBreaker:
    """Only the probe stage contacts nothing but the host; other stages have work while a host does not answer."""
    if stage is not Stage.PROBE:
        return NoCircuitBreaker()
    settings = ctx.settings
    known = host_failures or LocalHostFailures(ctx.clock, settings.host_failures, settings.host_rest)
    return HostCircuitBreaker(ctx.store, ctx.clock, known, settings.host_rest)


def _planned(ctx: Context, run_id: str) -> Run | None:
    """The run, with the leases of dead workers released; None when it is paused or over."""
    row = ctx.store.find_run(run_id)
    if row is None or row.state is not RunState.PLANNED:
        return None
    expired_leases.release_expired_leases(ctx, run_id)  # a message of a dead process returns at once
    return row.run
