"""Ends nightly runs: publishes, withholds (after too many failures of ours) or abandons them (without scores)."""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import TYPE_CHECKING, Final

from evidence.model import Trigger
from evidence.store import IllegalRunChange, RunAction, RunEvent, RunProgress, RunRow, RunState, Stage
from workers import pipeline, schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.nightly import absent_servers
from workers.nightly.withholding import find_withholding_reason
from workers.publication import run_parts

if TYPE_CHECKING:
    from workers.coordination.broker import TaskQueues

SYSTEM_ACTOR: Final = "hallmark"
"""The actor of automatic actions in the events of a run."""

_MUCH: Final = 2 * (1 - pipeline.PUBLISHABLE_SHARE)
"""A share of the planned servers that is above the share of the due ones which may be missing."""


async def publish_run(ctx: Context, run_id: str, halt: Halt | None = None, queues: TaskQueues | None = None) -> None:
    """Score the remaining servers and publish the run, or withhold it when too much failed because of us.

    Past its deadline the run is published incomplete, or abandoned when nothing was scored. A publication that was
    begun is continued. Workers that take tasks from `queues` write parts of it.
    """
    row = await asyncio.to_thread(ctx.store.find_run, run_id)
    if row is None or row.state is not RunState.PLANNED:
        return
    is_begun = await _is_being_published(ctx, run_id)
    late = is_begun or await asyncio.to_thread(is_past_deadline, ctx, row)
    if not is_begun and not await _may_be_published(ctx, row, late=late, halt=halt or Halt()):
        return
    await pipeline.begin_publication(ctx, row.run, late=late)
    if queues is not None:
        await asyncio.to_thread(share_parts, ctx, run_id, queues)
    await pipeline.publish(ctx, row.run, late=late, halt=halt)


async def publish_parts(ctx: Context, run_id: str, halt: Halt) -> None:
    """Write parts of a run that another worker publishes."""
    row = await asyncio.to_thread(ctx.store.find_run, run_id)
    if row is not None and row.state is RunState.PLANNED:
        await run_parts.write_parts(ctx, row.run, halt)


def share_parts(ctx: Context, run_id: str, queues: TaskQueues) -> None:
    """Ask other workers to write parts of a run: all but the one that its publisher writes."""
    wanted = min(ctx.settings.shards, ctx.store.publication.read_progress(run_id).waiting - 1)
    for _ in range(wanted - queues.waiting(schedule.TASK_QUEUES[schedule.PUBLISH_PARTS])):
        queues.issue(schedule.PUBLISH_PARTS, run_id)


async def _may_be_published(ctx: Context, row: RunRow, *, late: bool, halt: Halt) -> bool:
    """Score the remaining servers of a run; False when it was abandoned or withheld, or `halt` was set before."""
    run_id = row.run.id
    progress = await _finished(ctx, row, halt)
    if halt.is_set():
        return False
    if late and not progress.done[Stage.SCORE]:
        ctx.log.error("run_abandoned", run=run_id)
        why = "nothing was scored before its deadline"
        await asyncio.to_thread(ctx.store.set_run_state, run_id, RunState.ABANDONED, ctx.clock.wall(), why)
        return False
    if row.run.trigger is Trigger.NIGHTLY and (
        why := await asyncio.to_thread(read_withholding_reason, ctx, run_id, progress)
    ):
        await asyncio.to_thread(_withhold, ctx, run_id, why)
        return False
    return True


async def force_publish(ctx: Context, row: RunRow, by: RunEvent) -> None:
    """Publish a run as it is, by decision of an operator; raise NotPublishable when nothing is scored.

    A publication that was begun is continued: the run must not change any more.
    """
    if not await _is_being_published(ctx, row.run.id):
        await _finished(ctx, row, Halt())
    if not await pipeline.publish(ctx, row.run, by=by):
        raise IllegalRunChange(f"run {row.run.id} was changed while it was published: `hallmark night show` says how")


async def _is_being_published(ctx: Context, run_id: str) -> bool:
    return (await asyncio.to_thread(ctx.store.publication.read_progress, run_id)).parts > 0


def read_withholding_reason(ctx: Context, run_id: str, progress: RunProgress) -> str:
    """Why a run must be withheld, for people; empty when it may be published."""
    return find_withholding_reason(progress, ctx.store.list_failures(run_id), ctx.settings)


def is_closing_due(ctx: Context, row: RunRow) -> bool:
    """True when a planned run should end: past its deadline, nothing left to do, or 99 % scored for `tail_wait`."""
    if is_past_deadline(ctx, row):
        return True
    if _has_much_left(ctx, row):
        return False
    progress = ctx.store.read_progress(row.run.id)
    collected = progress.done.get(Stage.COLLECT, 0)
    if collected == progress.planned and not ctx.store.count_held_items(row.run.id):
        return not ctx.store.count_due_servers(row.run.id, ctx.clock.wall())
    if not pipeline.is_publishable(progress):
        return False
    at = ctx.store.find_progress_time(row.run.id, math.ceil(pipeline.PUBLISHABLE_SHARE * progress.scheduled_count))
    return at is not None and ctx.store.read_database_time(ctx.clock.wall()) - at > ctx.settings.tail_wait


def _has_much_left(ctx: Context, row: RunRow) -> bool:
    """True when so many servers are open that a run cannot end: it costs less than to count all of them."""
    if row.plan_position is None:
        return False
    many = math.floor(_MUCH * row.plan_position.planned)
    if ctx.store.count_open_servers(row.run.id, Stage.SCORE, many + 1) <= many:
        return False
    is_collecting = ctx.store.count_open_servers(row.run.id, Stage.COLLECT, 1) > 0
    return is_collecting or bool(ctx.store.count_due_servers(row.run.id, ctx.clock.wall(), most=1))


def is_past_deadline(ctx: Context, row: RunRow) -> bool:
    """True when a planned run exceeds its deadline, which restarts when the run is reopened."""
    if row.planned_at is None:
        return False
    reopened = [event.at for event in ctx.store.read_run_events(row.run.id) if event.what is RunAction.REOPENED]
    since = max(row.planned_at, *reopened) if reopened else row.planned_at
    return ctx.store.read_database_time(ctx.clock.wall()) - since > ctx.settings.run_deadline


async def _finished(ctx: Context, row: RunRow, halt: Halt) -> RunProgress:
    """Record postponed servers, score the remaining ones, and return the progress of the run."""
    await absent_servers.record_pending_retries(ctx, row.run, halt)
    unscored = await asyncio.to_thread(ctx.store.list_pending_servers, row.run.id, Stage.SCORE)
    # A server that crashed a worker would crash the publisher for ever: its message returns, and tries are not counted.
    suspects = set(
        await asyncio.to_thread(ctx.store.list_crash_suspects, row.run.id, Stage.SCORE, ctx.clock.wall(), tries=1)
    )
    await pipeline.score(ctx, row.run, [server for server in unscored if server not in suspects], halt=halt)
    return await asyncio.to_thread(ctx.store.read_progress, row.run.id)


def _withhold(ctx: Context, run_id: str, why: str) -> None:
    ctx.log.error("run_withheld", run=run_id, why=why)
    with contextlib.suppress(IllegalRunChange):  # an operator has stopped the run meanwhile
        ctx.store.apply_run_action(
            run_id, RunEvent(at=ctx.clock.wall(), who=SYSTEM_ACTOR, what=RunAction.WITHHELD, note=why)
        )
