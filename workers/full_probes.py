"""The full probe that follows on a re-test: a run of one server through the stages of nights, behind every night.

A re-test asks what cost points. Once nobody else waits for the same workers its server is asked the rest, and the next
night need not. One that a night came to first, or whose run does not end in time, is left to the nights.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from crawler.collectors.protocol.carrying import FULL_DUE
from evidence.kinds import exchanges
from evidence.model import Run, Server, Trigger
from evidence.store import FullProbe, RunRow, RunState, Shallow, Stage
from workers import pins, pipeline, reaping, schedule, stages
from workers.broker import Queues
from workers.context import Context
from workers.opt_outs import opt_outs
from workers.options import RunOptions
from workers.run_ids import run_id

DAY: Final = timedelta(days=1)
"""After this long the night has come to the server."""

DEADLINE: Final = timedelta(hours=2)
LATE: Final = "it did not end in time; the next night asks in full"
_DONE: Final = "every rubric is scored again"
_MARK: Final = "retest-full"  # sorts after the re-tests of the same second


async def keep_up(ctx: Context, queues: Queues) -> None:
    """Issue tasks for the full probes under way, end those that are scored or late, and begin some more."""
    await asyncio.to_thread(_keep_up, ctx, queues)


async def at_once(ctx: Context, retest: str) -> str | None:
    """Probe in full after a finished re-test, in this process; the run, None when nothing was left to ask."""
    due = await asyncio.to_thread(ctx.store.full_probes.due, ctx.clock.wall() - DAY, ctx.settings.retests_at_once)
    for shallow in due:
        if shallow.retest == retest and (run := await asyncio.to_thread(_begin, ctx, shallow, in_parts=False)):
            await pipeline.collect(ctx, run, [shallow.server])
            await pipeline.score(ctx, run, [shallow.server])
            if not await asyncio.to_thread(_ends, ctx, run):
                await asyncio.to_thread(_give_up, ctx, run)
            return run.id
    return None


def _keep_up(ctx: Context, queues: Queues) -> None:
    since = ctx.clock.wall() - DAY
    going = [probe for probe in ctx.store.full_probes.under_way(since) if _goes_on(ctx, probe, queues)]
    if (free := ctx.settings.full_probes_at_once - len(going)) <= 0 or ctx.settings.depth == "core":
        return
    for shallow in ctx.store.full_probes.due(since, free):
        if not _waits(ctx, Stage.PROBE):
            _begin(ctx, shallow, in_parts=True)


def _goes_on(ctx: Context, probe: FullProbe, queues: Queues) -> bool:
    """Whether a full probe is still under way after what could be done for it."""
    row = ctx.store.run(probe.run)
    if row is None or _ends(ctx, row.run):
        return False
    if ctx.clock.wall() - (row.planned_at or ctx.clock.wall()) > DEADLINE:
        _give_up(ctx, row.run)
        return False
    if _is_ours(ctx, row):
        reaping.reap(ctx, probe.run)
        for stage in ctx.store.due(probe.run, ctx.clock.wall()):
            task = schedule.SHARDS[stage]
            if not queues.waiting(schedule.ROUTES[task]) and not _waits(ctx, stage):
                queues.issue(task, probe.run)
    return True


def _begin(ctx: Context, shallow: Shallow, *, in_parts: bool) -> Run | None:
    """A run for a server that has something left to be asked; None without one, or when somebody else began it."""
    at = ctx.clock.wall()
    name = run_id(at, _MARK)
    server = _to_be_asked(ctx, shallow, name)
    if server is None:
        ctx.store.full_probes.follow(shallow.retest, None)
        return None
    options = RunOptions(registries=(), only=(server.id,))
    run = pipeline.start_run(ctx, Trigger.RETEST, options, run_id=name)
    ctx.store.plan(run.id, [server.id], at, first={server.id: stages.first(server)} if in_parts else {})
    if ctx.store.full_probes.follow(shallow.retest, run.id):
        ctx.log.info("full_probe_begun", retest=shallow.retest, run=run.id, server=server.id)
        return run
    ctx.store.set_state(run.id, RunState.CANCELLED, at)
    return None


def _to_be_asked(ctx: Context, shallow: Shallow, run: str) -> Server | None:
    """The server, when its re-test left a full probe due and no night has come to it since."""
    server = ctx.store.server(shallow.server)
    if server is None or opt_outs(ctx.settings, ctx.store).why(server):
        return None
    record = ctx.store.dossiers(shallow.run, [server.id])[0].records.get(exchanges.KIND)
    if record is None or record.observation.get(FULL_DUE) is not True:
        return None
    turn = ctx.store.last_turns(run, [server.id]).get(server.id)
    return server if turn is None or turn <= shallow.finished_at else None


def _ends(ctx: Context, run: Run) -> bool:
    """Whether a run is scored, which ends it."""
    if ctx.store.pending(run.id, Stage.SCORE):
        return False
    if ctx.store.set_state(run.id, RunState.DONE, ctx.clock.wall(), _DONE):
        ctx.log.info("full_probe_done", run=run.id)
    return True


def _give_up(ctx: Context, run: Run) -> None:
    if ctx.store.set_state(run.id, RunState.CANCELLED, ctx.clock.wall(), LATE):
        ctx.log.warning("full_probe_late", run=run.id)


def _waits(ctx: Context, stage: Stage) -> bool:
    """Whether a night has servers that could be looked at now in a stage."""
    nights = [row.run.id for row in ctx.store.unfinished_runs(Trigger.NIGHTLY) if row.state is RunState.PLANNED]
    return any(stage in ctx.store.due(night, ctx.clock.wall(), most=1) for night in nights)


def _is_ours(ctx: Context, row: RunRow) -> bool:
    """Whether this code planned a run; other code's is left alone, and is late some day."""
    try:
        pins.check(row.run, ctx.pins)
    except pins.PinMismatch:
        return False
    return True
