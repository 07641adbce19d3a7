"""The full probe that follows on a re-test: a run of one server through the stages of nights, behind every night.

A re-test asks what cost points. Once nobody else waits for the same workers its server is asked the rest, and the next
night need not. One that a night came to first, or whose run does not end in time, is left to the nights.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from crawler.collectors.protocol.probes.carry_over import FULL_DUE
from evidence.kinds import exchanges
from evidence.model import Run, Server, Trigger
from evidence.store import AwaitingFullProbe, FullProbe, RunRow, RunState, Stage
from workers import pipeline, schedule
from workers.context import Context
from workers.coordination import expired_leases
from workers.coordination.broker import TaskQueues
from workers.opt_outs import load_opt_outs
from workers.runs import pins
from workers.runs.identifiers import make_run_id
from workers.runs.options import RunOptions
from workers.stages import routing

DAY: Final = timedelta(days=1)
"""After this long the night has come to the server."""

FULL_PROBE_DEADLINE: Final = timedelta(hours=2)
DEADLINE_MISSED: Final = "it did not end in time; the next night asks in full"
_DONE: Final = "every rubric is scored again"
_MARK: Final = "retest-full"  # sorts after the re-tests of the same second


async def advance_full_probes(ctx: Context, queues: TaskQueues) -> None:
    """Issue tasks for the full probes under way, end those that are scored or late, and begin some more."""
    await asyncio.to_thread(_keep_up, ctx, queues)


async def run_full_probe(ctx: Context, retest: str) -> str | None:
    """Probe in full after a finished re-test, in this process; the run, None when nothing was left to ask."""
    due = await asyncio.to_thread(
        ctx.store.full_probes.list_due_probes, ctx.clock.wall() - DAY, ctx.settings.retests_at_once
    )
    for shallow in due:
        if shallow.retest == retest and (run := await asyncio.to_thread(_begin, ctx, shallow, in_parts=False)):
            await pipeline.collect(ctx, run, [shallow.server])
            await pipeline.score(ctx, run, [shallow.server])
            if not await asyncio.to_thread(_ends, ctx, run):
                await asyncio.to_thread(_give_up, ctx, run)
            return run.id
    return None


def _keep_up(ctx: Context, queues: TaskQueues) -> None:
    since = ctx.clock.wall() - DAY
    going = [probe for probe in ctx.store.full_probes.list_running_probes(since) if _goes_on(ctx, probe, queues)]
    if (free := ctx.settings.full_probes_at_once - len(going)) <= 0 or ctx.settings.depth == "core":
        return
    for shallow in ctx.store.full_probes.list_due_probes(since, free):
        if not _waits(ctx, Stage.PROBE):
            _begin(ctx, shallow, in_parts=True)


def _goes_on(ctx: Context, probe: FullProbe, queues: TaskQueues) -> bool:
    """Whether a full probe is still under way after what could be done for it."""
    row = ctx.store.find_run(probe.run)
    if row is None or _ends(ctx, row.run):
        return False
    if ctx.clock.wall() - (row.planned_at or ctx.clock.wall()) > FULL_PROBE_DEADLINE:
        _give_up(ctx, row.run)
        return False
    if _is_ours(ctx, row):
        expired_leases.release_expired_leases(ctx, probe.run)
        for stage in ctx.store.count_due_servers(probe.run, ctx.clock.wall()):
            task = schedule.SHARD_TASKS[stage]
            if not queues.waiting(schedule.TASK_QUEUES[task]) and not _waits(ctx, stage):
                queues.issue(task, probe.run)
    return True


def _begin(ctx: Context, shallow: AwaitingFullProbe, *, in_parts: bool) -> Run | None:
    """A run for a server that has something left to be asked; None without one, or when another process began it."""
    at = ctx.clock.wall()
    name = make_run_id(at, _MARK)
    server = _to_be_asked(ctx, shallow, name)
    if server is None:
        ctx.store.full_probes.record_full_probe(shallow.retest, None)
        return None
    options = RunOptions(registries=(), only=(server.id,))
    run = pipeline.start_run(ctx, Trigger.RETEST, options, run_id=name)
    ctx.store.plan_run(run.id, [server.id], at, first={server.id: routing.first_stage(server)} if in_parts else {})
    if ctx.store.full_probes.record_full_probe(shallow.retest, run.id):
        ctx.log.info("full_probe_begun", retest=shallow.retest, run=run.id, server=server.id)
        return run
    ctx.store.set_run_state(run.id, RunState.CANCELLED, at)
    return None


def _to_be_asked(ctx: Context, shallow: AwaitingFullProbe, run: str) -> Server | None:
    """The server, when its re-test left a full probe due and no night has come to it since."""
    server = ctx.store.find_server(shallow.server)
    if server is None or load_opt_outs(ctx.settings, ctx.store).why(server):
        return None
    record = ctx.store.read_dossiers(shallow.run, [server.id])[0].records.get(exchanges.KIND)
    if record is None or record.observation.get(FULL_DUE) is not True:
        return None
    turn = ctx.store.read_last_collection_times(run, [server.id]).get(server.id)
    return server if turn is None or turn <= shallow.finished_at else None


def _ends(ctx: Context, run: Run) -> bool:
    """Whether a run is scored, which ends it."""
    if ctx.store.list_pending_servers(run.id, Stage.SCORE):
        return False
    if ctx.store.set_run_state(run.id, RunState.DONE, ctx.clock.wall(), _DONE):
        ctx.log.info("full_probe_done", run=run.id)
    return True


def _give_up(ctx: Context, run: Run) -> None:
    if ctx.store.set_run_state(run.id, RunState.CANCELLED, ctx.clock.wall(), DEADLINE_MISSED):
        ctx.log.warning("full_probe_late", run=run.id)


def _waits(ctx: Context, stage: Stage) -> bool:
    """Whether a night has servers that could be looked at now in a stage."""
    nights = [row.run.id for row in ctx.store.list_unfinished_runs(Trigger.NIGHTLY) if row.state is RunState.PLANNED]
    return any(stage in ctx.store.count_due_servers(night, ctx.clock.wall(), most=1) for night in nights)


def _is_ours(ctx: Context, row: RunRow) -> bool:
    """Whether this code planned a run; other code's is left alone, and is late some day."""
    try:
        pins.check_pins(row.run, ctx.pins)
    except pins.PinMismatch:
        return False
    return True
