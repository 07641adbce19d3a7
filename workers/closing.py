"""How a nightly run ends: published, or abandoned when its deadline passed and nothing was scored."""

from __future__ import annotations

import asyncio

from evidence.store import RunRow, RunState, Stage
from workers import pipeline
from workers.context import Context


async def publish_run(ctx: Context, run_id: str) -> None:
    """Give the last unscored servers another try and publish the run.

    Past its deadline it is published with parts missing, or abandoned when nothing at all was scored.
    """
    row = await asyncio.to_thread(ctx.store.run, run_id)
    if row is not None and row.state is RunState.PLANNED:
        unscored = await asyncio.to_thread(ctx.store.pending, run_id, Stage.SCORE)
        await pipeline.score(ctx, row.run, unscored)
        late = is_late(ctx, row)
        if late and not (await asyncio.to_thread(ctx.store.progress, run_id)).done[Stage.SCORE]:
            ctx.log.error("run_abandoned", run=run_id)
            await asyncio.to_thread(ctx.store.set_state, run_id, RunState.ABANDONED, ctx.clock.wall())
            return
        await pipeline.publish(ctx, row.run, late=late)


def is_late(ctx: Context, row: RunRow) -> bool:
    """True when the time that a planned run may take is over."""
    return row.planned_at is not None and ctx.clock.wall() - row.planned_at > ctx.settings.run_deadline
