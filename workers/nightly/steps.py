"""The steps of nightly runs that Celery tasks call: find what is due and issue tasks for it.

Progress is in the database. A task that is lost, repeated or killed costs only time: the next sweep issues it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from evidence.model import Trigger
from evidence.store import RunAction, RunRow, RunState
from workers import pipeline, schedule
from workers.context import Context
from workers.coordination import expired_leases
from workers.log import bind_log_context
from workers.nightly import closing
from workers.nightly.actions import OTHER_VERSION_ACTION, OVERLAP_ACTION
from workers.runs import pins
from workers.runs.options import RunOptions
from workers.shutdown import IsStopping, never_stops, open_halt
from workers.stages import availability_samples

if TYPE_CHECKING:
    from workers.coordination.broker import TaskLock, TaskQueues

_NEVER = datetime.min.replace(tzinfo=UTC)
_STARTS = frozenset({RunAction.STARTED, RunAction.RESUMED})

OpenQueues: TypeAlias = "Callable[[str], TaskQueues]"
"""Opens the queues of the workers of a version, which is the digest of their pins."""


async def plan_due_runs(
    ctx: Context, task_lock: TaskLock, stopping: IsStopping = never_stops, *, only_known: bool = False
) -> None:
    """Create the nightly run that is due; discover and plan it and the other runs of this version without a plan.

    Ends when the task's time is over; the next task continues. Runs that are planned, paused, or in work at another
    worker are skipped. With `only_known` no run is created, which is left to the version of beat.
    """
    run_id = schedule.make_nightly_run_id(schedule.find_due_slot(ctx.settings, ctx.clock.now()))
    own, others = await asyncio.to_thread(_list_working_runs, ctx)
    waiting = [row.run.id for row in own if row.state is RunState.DISCOVERING]
    if not only_known and await asyncio.to_thread(ctx.store.find_run, run_id) is None:
        waiting.append(run_id)
        for row in (*own, *others):
            ctx.log.warning("nights_overlap", run=run_id, other=row.run.id, action=OVERLAP_ACTION)
    async with open_halt(stopping, ctx.settings.shard_time) as halt:
        for each in waiting:
            async with task_lock(f"plan:{each}") as mine:
                if not mine:
                    continue
                with bind_log_context(run=each):
                    options = RunOptions(registries=ctx.settings.registry_names)
                    run = await asyncio.to_thread(pipeline.start_run, ctx, Trigger.NIGHTLY, options, run_id=each)
                    await pipeline.discover(ctx, run, halt=halt)


async def forward_planning(ctx: Context, open_queues: OpenQueues) -> None:
    """Ask the workers of other versions to plan the runs that they began, because beat asks only its own version."""
    _, others = await asyncio.to_thread(_list_working_runs, ctx)
    for row in others:
        if row.state is RunState.DISCOVERING:
            queues = open_queues(pins.digest_pins(row.run.pins))
            await asyncio.to_thread(_fill, ctx, queues, schedule.PLAN_RUN, row.run.id, 1)


async def sample_availability(ctx: Context, task_lock: TaskLock, stopping: IsStopping = never_stops) -> None:
    """Sample the remotes that are due until the task's time is over, unless another worker does."""
    async with task_lock("sample-availability") as mine:
        if not mine:
            return
        async with open_halt(stopping, ctx.settings.shard_time) as halt:
            await availability_samples.sample_due_servers(ctx, halt=halt)


async def issue_due_tasks(ctx: Context, open_queues: OpenQueues, *, forward: bool) -> None:
    """Issue tasks for everything that is due in unfinished nightly runs with this code's pins.

    With `forward` the workers of other versions are asked to do the same for their runs.
    """
    own, others = await asyncio.to_thread(_list_working_runs, ctx)
    for row in own:
        with bind_log_context(run=row.run.id):
            await asyncio.to_thread(_sweep_run, ctx, row, open_queues(pins.digest_pins(ctx.pins)))
    if forward:
        for version, row in {pins.digest_pins(row.run.pins): row for row in others}.items():
            await asyncio.to_thread(_forward_sweep, ctx, row, version, open_queues(version))


def _forward_sweep(ctx: Context, row: RunRow, version: str, queues: TaskQueues) -> None:
    """Ask the workers of another version to sweep; log when none has taken the last request."""
    if queues.waiting(schedule.PUBLISH_QUEUE):
        ctx.log.warning("run_of_other_version_waits", run=row.run.id, version=version, action=OTHER_VERSION_ACTION)
    else:
        queues.issue(schedule.SWEEP, version)


def _sweep_run(ctx: Context, row: RunRow, queues: TaskQueues) -> None:
    """Issue a task to plan, to collect and score, or to end a run, as is due."""
    run_id = row.run.id
    if row.state is RunState.DISCOVERING:
        if _is_planning_due(ctx, row):
            _fill(ctx, queues, schedule.PLAN_RUN, run_id, 1)
    elif ctx.store.publication.read_progress(run_id).parts or closing.is_closing_due(ctx, row):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
        closing.share_parts(ctx, run_id, queues)
    else:
        expired_leases.release_expired_leases(ctx, run_id)
        for stage, number in ctx.store.count_due_servers(run_id, ctx.clock.wall()).items():
            _fill(ctx, queues, schedule.SHARD_TASKS[stage], run_id, number)


def _is_planning_due(ctx: Context, row: RunRow) -> bool:
    """True for a run whose walks or plan have begun and not ended, and for one just started or resumed by hand.

    The others wait for a registry that failed, or for servers: for them beat issues PLAN_RUN less often.
    """
    walks = ctx.store.list_walks(row.run.id)
    if row.plan_position is not None or not walks or any(not walk.done and walk.error is None for walk in walks):
        return True
    ended = [walk.at for walk in walks if walk.done and walk.at] if all(walk.done for walk in walks) else []
    events = [event.at for event in ctx.store.read_run_events(row.run.id) if event.what in _STARTS]
    return max((*ended, *events), default=_NEVER) > ctx.clock.wall() - ctx.settings.plan_every


def _fill(ctx: Context, queues: TaskQueues, task: str, run_id: str, due: int) -> None:
    """Keep as many tasks waiting as there is work for, at most `shards`; tasks without work end at once."""
    wanted = min(ctx.settings.shards, -(-due // ctx.settings.lease_chunk))
    for _ in range(wanted - queues.waiting(schedule.TASK_QUEUES[task])):
        queues.issue(task, run_id)


def _list_working_runs(ctx: Context) -> tuple[list[RunRow], list[RunRow]]:
    """The unfinished nightly runs that are not stopped: those with this code's pins, and those with others."""
    working = [row for row in ctx.store.list_unfinished_runs(Trigger.NIGHTLY) if row.state.is_working]
    mine = [row for row in working if pins.is_pinned_to(row.run, ctx.pins)]
    return mine, [row for row in working if row not in mine]
