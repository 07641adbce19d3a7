"""The steps as the Celery mode calls them: what is due, and which tasks are sent for it.

Progress is rows. A task that is lost, repeated or killed changes nothing but time: the next sweep sees what is due.
"""

from __future__ import annotations

import asyncio

from evidence.model import Run, Trigger
from evidence.store import RunAction, RunRow, RunState
from workers import pipeline, schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination import expired_leases
from workers.coordination.broker import TaskLock, TaskQueues
from workers.log import bind_log_context
from workers.nightly import closing
from workers.runs import pins
from workers.runs.options import RunOptions
from workers.shutdown import IsStopping, halt_when, never_stops
from workers.stages import availability_samples

_STARTS = frozenset({RunAction.STARTED, RunAction.RESUMED})


async def plan_due_runs(ctx: Context, turn: TaskLock) -> None:
    """Create the nightly run that is due; discover and plan it and those that were started by hand.

    What is done, paused, or being done by another worker is left alone.
    """
    run_id = schedule.make_nightly_run_id(schedule.find_due_slot(ctx.settings, ctx.clock.now()))
    rows = await asyncio.to_thread(_nights, ctx)
    waiting = [row.run.id for row in rows if row.state is RunState.DISCOVERING]
    if await asyncio.to_thread(ctx.store.find_run, run_id) is None:
        waiting.append(run_id)
    for each in waiting:
        async with turn(f"plan:{each}") as mine:
            if not mine:
                continue
            with bind_log_context(run=each):
                run = await asyncio.to_thread(pipeline.start_run, ctx, Trigger.NIGHTLY, _options(ctx), run_id=each)
                await pipeline.discover(ctx, run)


async def sample_availability(ctx: Context, turn: TaskLock, stopping: IsStopping = never_stops) -> None:
    """Take samples of the remotes that are due until the task's time is over, unless another worker is at it."""
    async with turn("light-check") as mine:
        if not mine:
            return
        halt = Halt()
        watching = asyncio.create_task(halt_when(stopping, halt))
        ending = asyncio.get_running_loop().call_later(ctx.settings.shard_time.total_seconds(), halt.set)
        try:
            await availability_samples.sample_due_servers(ctx, halt=halt)
        finally:
            ending.cancel()
            watching.cancel()


async def issue_due_tasks(ctx: Context, queues: TaskQueues) -> None:
    """Issue tasks for everything that is due in unfinished nightly runs of this code's versions."""
    for row in await asyncio.to_thread(_nights, ctx):
        with bind_log_context(run=row.run.id):
            await asyncio.to_thread(_sweep_run, ctx, row, queues)


def _sweep_run(ctx: Context, row: RunRow, queues: TaskQueues) -> None:
    """Plan what was started by hand; collect and score what is due; end the run when that is due."""
    run_id = row.run.id
    if row.state is RunState.DISCOVERING:
        if _is_new(ctx, run_id):
            _fill(ctx, queues, schedule.PLAN_RUN, run_id, 1)
    elif closing.is_closing_due(ctx, row):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
    else:
        expired_leases.release_expired_leases(ctx, run_id)
        for stage, number in ctx.store.count_due_servers(run_id, ctx.clock.wall()).items():
            _fill(ctx, queues, schedule.SHARD_TASKS[stage], run_id, number)


def _is_new(ctx: Context, run_id: str) -> bool:
    """True for a run that was started by hand since beat last asked for a plan; it asks again for all others."""
    since = ctx.clock.wall() - ctx.settings.plan_every
    return any(event.at > since for event in ctx.store.read_run_events(run_id) if event.what in _STARTS)


def _fill(ctx: Context, queues: TaskQueues, task: str, run_id: str, due: int) -> None:
    """Keep as many tasks waiting as there is work for, at most `shards`; those that find nothing end at once."""
    wanted = min(ctx.settings.shards, -(-due // ctx.settings.lease_chunk))
    for _ in range(wanted - queues.waiting(schedule.TASK_QUEUES[task])):
        queues.issue(task, run_id)


def _nights(ctx: Context) -> list[RunRow]:
    """The nights that go on by themselves and were planned by this code."""
    unfinished = ctx.store.list_unfinished_runs(Trigger.NIGHTLY)
    return [row for row in unfinished if row.state.is_working and _is_ours(ctx, row.run)]


def _is_ours(ctx: Context, run: Run) -> bool:
    try:
        pins.check_pins(run, ctx.pins)
    except pins.PinMismatch:
        ctx.log.warning("run_left_to_other_code", run=run.id)
        return False
    return True


def _options(ctx: Context) -> RunOptions:
    """A nightly run covers all registries of the settings."""
    return RunOptions(registries=ctx.settings.registry_names)
