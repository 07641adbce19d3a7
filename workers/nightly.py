"""The steps as the Celery mode calls them: what is due, and which tasks are sent for it.

Progress is rows. A task that is lost, repeated or killed changes nothing but time: the next sweep sees what is due.
"""

from __future__ import annotations

import asyncio

from evidence.model import Run, Trigger
from evidence.store import RunAct, RunRow, RunState
from workers import closing, light_checks, pins, pipeline, reaping, schedule
from workers.broker import Queues, Turn
from workers.context import Context
from workers.flow import Halt
from workers.log import about
from workers.options import RunOptions
from workers.stopping import Stopping, halt_when, never

_STARTS = frozenset({RunAct.STARTED, RunAct.RESUMED})


async def plan_due(ctx: Context, turn: Turn) -> None:
    """Create the nightly run that is due; discover and plan it and those that were started by hand.

    What is done, paused, or being done by another worker is left alone.
    """
    run_id = schedule.nightly_run_id(schedule.due_slot(ctx.settings, ctx.clock.now()))
    rows = await asyncio.to_thread(_nights, ctx)
    waiting = [row.run.id for row in rows if row.state is RunState.DISCOVERING]
    if await asyncio.to_thread(ctx.store.run, run_id) is None:
        waiting.append(run_id)
    for each in waiting:
        async with turn(f"plan:{each}") as mine:
            if not mine:
                continue
            with about(run=each):
                run = await asyncio.to_thread(pipeline.start_run, ctx, Trigger.NIGHTLY, _options(ctx), run_id=each)
                await pipeline.discover(ctx, run)


async def light_check(ctx: Context, turn: Turn, stopping: Stopping = never) -> None:
    """Take samples of the remotes that are due until the task's time is over, unless another worker is at it."""
    async with turn("light-check") as mine:
        if not mine:
            return
        halt = Halt()
        watching = asyncio.create_task(halt_when(stopping, halt))
        ending = asyncio.get_running_loop().call_later(ctx.settings.shard_time.total_seconds(), halt.set)
        try:
            await light_checks.check(ctx, halt=halt)
        finally:
            ending.cancel()
            watching.cancel()


async def sweep(ctx: Context, queues: Queues) -> None:
    """Issue tasks for everything that is due in unfinished nightly runs of this code's versions."""
    for row in await asyncio.to_thread(_nights, ctx):
        with about(run=row.run.id):
            await asyncio.to_thread(_sweep_run, ctx, row, queues)


def _sweep_run(ctx: Context, row: RunRow, queues: Queues) -> None:
    """Plan what was started by hand; collect and score what is due; end the run when that is due."""
    run_id = row.run.id
    if row.state is RunState.DISCOVERING:
        if _is_new(ctx, run_id):
            _fill(ctx, queues, schedule.PLAN_RUN, run_id, 1)
    elif closing.is_due(ctx, row):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
    else:
        reaping.reap(ctx, run_id)
        for stage, number in ctx.store.due(run_id, ctx.clock.wall()).items():
            _fill(ctx, queues, schedule.SHARDS[stage], run_id, number)


def _is_new(ctx: Context, run_id: str) -> bool:
    """True for a run that was started by hand since beat last asked for a plan; it asks again for all others."""
    since = ctx.clock.wall() - ctx.settings.plan_every
    return any(event.at > since for event in ctx.store.events(run_id) if event.what in _STARTS)


def _fill(ctx: Context, queues: Queues, task: str, run_id: str, due: int) -> None:
    """Keep as many tasks waiting as there is work for, at most `shards`; those that find nothing end at once."""
    wanted = min(ctx.settings.shards, -(-due // ctx.settings.lease_chunk))
    for _ in range(wanted - queues.waiting(schedule.ROUTES[task])):
        queues.issue(task, run_id)


def _nights(ctx: Context) -> list[RunRow]:
    """The nights that go on by themselves and were planned by this code."""
    unfinished = ctx.store.unfinished_runs(Trigger.NIGHTLY)
    return [row for row in unfinished if row.state.is_working and _is_ours(ctx, row.run)]


def _is_ours(ctx: Context, run: Run) -> bool:
    try:
        pins.check(run, ctx.pins)
    except pins.PinMismatch:
        ctx.log.warning("run_left_to_other_code", run=run.id)
        return False
    return True


def _options(ctx: Context) -> RunOptions:
    """A nightly run covers all registries of the settings."""
    return RunOptions(registries=ctx.settings.registry_names)
