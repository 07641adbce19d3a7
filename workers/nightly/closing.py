"""How a nightly run ends: published, withheld because too much failed through us, or abandoned with nothing to show."""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import Final

from evidence.model import Trigger
from evidence.store import IllegalRunChange, RunAction, RunEvent, RunProgress, RunRow, RunState, Stage
from workers import pipeline
from workers.context import Context
from workers.nightly.withholding import find_withholding_reason

SYSTEM_ACTOR: Final = "hallmark"
"""The actor of automatic actions in the events of a run."""


async def publish_run(ctx: Context, run_id: str) -> None:
    """Give the last unscored servers another try and publish the run, unless our own failures forbid it.

    Past its deadline it is published with parts missing, or abandoned when nothing at all was scored.
    """
    row = await asyncio.to_thread(ctx.store.find_run, run_id)
    if row is None or row.state is not RunState.PLANNED:
        return
    late = await asyncio.to_thread(is_past_deadline, ctx, row)
    progress = await _finished(ctx, row)
    if late and not progress.done[Stage.SCORE]:
        ctx.log.error("run_abandoned", run=run_id)
        why = "nothing was scored before its deadline"
        await asyncio.to_thread(ctx.store.set_run_state, run_id, RunState.ABANDONED, ctx.clock.wall(), why)
        return
    if row.run.trigger is Trigger.NIGHTLY and (
        why := await asyncio.to_thread(read_withholding_reason, ctx, run_id, progress)
    ):
        await asyncio.to_thread(_withhold, ctx, run_id, why)
        return
    await pipeline.publish(ctx, row.run, late=late)


async def force_publish(ctx: Context, row: RunRow, by: RunEvent) -> None:
    """Publish a run as it is because an operator says so; raise NotPublishable when nothing is scored."""
    await _finished(ctx, row)
    await pipeline.publish(ctx, row.run, by=by)


def read_withholding_reason(ctx: Context, run_id: str, progress: RunProgress) -> str:
    """Why a night is withheld, for people; empty when it may be published."""
    return find_withholding_reason(progress, ctx.store.list_failures(run_id), ctx.settings)


def is_closing_due(ctx: Context, row: RunRow) -> bool:
    """True when a planned run should end: late, with nothing left to do, or at 99 % and waited for the rest."""
    if is_past_deadline(ctx, row):
        return True
    progress = ctx.store.read_progress(row.run.id)
    collected = progress.done.get(Stage.COLLECT, 0)
    if collected == progress.planned and not ctx.store.count_held_items(row.run.id):
        return not ctx.store.count_due_servers(row.run.id, ctx.clock.wall())
    if not pipeline.is_publishable(progress):
        return False
    at = ctx.store.find_progress_time(row.run.id, math.ceil(pipeline.PUBLISHABLE_SHARE * progress.scheduled_count))
    return at is not None and ctx.store.read_database_time(ctx.clock.wall()) - at > ctx.settings.tail_wait


def is_past_deadline(ctx: Context, row: RunRow) -> bool:
    """True when the time that a planned run may take is over; one that was reopened has it once more."""
    if row.planned_at is None:
        return False
    reopened = [event.at for event in ctx.store.read_run_events(row.run.id) if event.what is RunAction.REOPENED]
    since = max(row.planned_at, *reopened) if reopened else row.planned_at
    return ctx.store.read_database_time(ctx.clock.wall()) - since > ctx.settings.run_deadline


async def _finished(ctx: Context, row: RunRow) -> RunProgress:
    """Settle what was to be looked at again, score what is not scored yet, and tell how far the run is then."""
    await pipeline.record_pending_retries(ctx, row.run)
    unscored = await asyncio.to_thread(ctx.store.list_pending_servers, row.run.id, Stage.SCORE)
    # Of those that a worker died of, a publisher would die for ever: its message comes back, and counts no tries.
    deadly = set(
        await asyncio.to_thread(ctx.store.list_crash_suspects, row.run.id, Stage.SCORE, ctx.clock.wall(), tries=1)
    )
    await pipeline.score(ctx, row.run, [server for server in unscored if server not in deadly])
    return await asyncio.to_thread(ctx.store.read_progress, row.run.id)


def _withhold(ctx: Context, run_id: str, why: str) -> None:
    ctx.log.error("run_withheld", run=run_id, why=why)
    with contextlib.suppress(IllegalRunChange):  # stopped by an operator meanwhile
        ctx.store.apply_run_action(
            run_id, RunEvent(at=ctx.clock.wall(), who=SYSTEM_ACTOR, what=RunAction.WITHHELD, note=why)
        )
