"""The steps as the Celery mode calls them: what is due, and which tasks are sent for it.

Progress is rows. A task that is lost, repeated or killed changes nothing but time: the next sweep sees what is due.
"""

from __future__ import annotations

import asyncio

from evidence.model import Run, Trigger
from evidence.store import RunRow, RunState, Stage
from workers import light_checks, pins, pipeline, schedule
from workers.broker import Queues, Turn
from workers.closing import is_late
from workers.context import Context
from workers.flow import Halt
from workers.options import RunOptions
from workers.stopping import Stopping, halt_when, never

LOOK_BACK = 20


async def plan_due(ctx: Context, turn: Turn) -> None:
    """Create, discover and plan the nightly run that is due, unless that is done or another worker is at it."""
    run_id = schedule.nightly_run_id(schedule.due_slot(ctx.settings, ctx.clock.now()))
    known = await asyncio.to_thread(ctx.store.run, run_id)
    if known is not None and (known.state is not RunState.DISCOVERING or not _is_ours(ctx, known.run)):
        return
    async with turn(f"plan:{run_id}") as mine:
        if mine:
            run = await asyncio.to_thread(pipeline.start_run, ctx, Trigger.NIGHTLY, _options(ctx), run_id=run_id)
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
    for row in await asyncio.to_thread(ctx.store.runs, LOOK_BACK):
        if row.run.trigger is Trigger.NIGHTLY and row.state is RunState.PLANNED and _is_ours(ctx, row.run):
            await asyncio.to_thread(_sweep_run, ctx, row, queues)


def _sweep_run(ctx: Context, row: RunRow, queues: Queues) -> None:
    """Probe what is not collected, then score what is not scored, then publish."""
    run_id, progress = row.run.id, ctx.store.progress(row.run.id)
    collected, scored = progress.done.get(Stage.COLLECT, 0), progress.done.get(Stage.SCORE, 0)
    if is_late(ctx, row):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
    elif collected < progress.planned:
        _fill(ctx, queues, schedule.PROBE_SHARD, run_id, progress.planned - collected)
    elif pipeline.is_publishable(progress):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
    else:
        _fill(ctx, queues, schedule.SCORE_SHARD, run_id, progress.planned - scored)


def _fill(ctx: Context, queues: Queues, task: str, run_id: str, due: int) -> None:
    """Keep as many tasks waiting as there is work for, at most `shards`; those that find nothing end at once."""
    wanted = min(ctx.settings.shards, -(-due // ctx.settings.lease_chunk))
    for _ in range(wanted - queues.waiting(schedule.ROUTES[task])):
        queues.issue(task, run_id)


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
