"""Full probes after re-tests: a run of one server through the stages of nightly runs, with lower priority than those.

A re-test asks only what cost points. When no nightly run needs the workers, the full probe asks the rest, so that the
next nightly run need not. It is skipped when a nightly run has collected the server first, or when it ends too late.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from crawler.collectors.protocol.probes.carry_over import FULL_DUE
from evidence.kinds import exchanges
from evidence.model import Run, Server, Trigger
from evidence.store import AwaitingFullProbe, FullProbe, RunState, Stage
from workers import pipeline, schedule
from workers.context import Context
from workers.coordination import expired_leases
from workers.opt_outs import load_opt_outs
from workers.runs import pins
from workers.runs.identifiers import make_run_id
from workers.runs.options import RunOptions
from workers.stages import routing

if TYPE_CHECKING:
    from workers.coordination.broker import TaskQueues

DAY: Final = timedelta(days=1)
"""After this long a nightly run has collected the server."""

FULL_PROBE_DEADLINE: Final = timedelta(hours=2)
DEADLINE_MISSED: Final = "it did not end in time; the next night asks in full"
_DONE: Final = "every rubric is scored again"
_MARK: Final = "retest-full"  # sorts after the re-tests of the same second


async def advance_full_probes(ctx: Context, queues: TaskQueues) -> None:
    """Issue tasks for running full probes, finish those that are scored or late, and start further ones."""
    await asyncio.to_thread(_advance_all, ctx, queues)


async def run_full_probe(ctx: Context, retest: str) -> str | None:
    """Make the full probe after a finished re-test in this process; return its run, None when none is due."""
    due = await asyncio.to_thread(
        ctx.store.full_probes.list_due_probes, ctx.clock.wall() - DAY, ctx.settings.retests_at_once
    )
    for due_probe in due:
        if due_probe.retest == retest and (
            run := await asyncio.to_thread(_start_probe, ctx, due_probe, by_stages=False)
        ):
            await pipeline.collect(ctx, run, [due_probe.server])
            await pipeline.score(ctx, run, [due_probe.server])
            if not await asyncio.to_thread(_finish_if_scored, ctx, run):
                await asyncio.to_thread(_give_up, ctx, run)
            return run.id
    return None


def _advance_all(ctx: Context, queues: TaskQueues) -> None:
    since = ctx.clock.wall() - DAY
    going = [probe for probe in ctx.store.full_probes.list_running_probes(since) if _advance(ctx, probe, queues)]
    if (free := ctx.settings.full_probes_at_once - len(going)) <= 0 or ctx.settings.depth == "core":
        return
    for due_probe in ctx.store.full_probes.list_due_probes(since, free):
        if not _has_due_servers(ctx, Stage.PROBE):
            _start_probe(ctx, due_probe, by_stages=True)


def _advance(ctx: Context, probe: FullProbe, queues: TaskQueues) -> bool:
    """Finish or advance a full probe; return whether it is still running."""
    row = ctx.store.find_run(probe.run)
    if row is None or _finish_if_scored(ctx, row.run):
        return False
    if ctx.clock.wall() - (row.planned_at or ctx.clock.wall()) > FULL_PROBE_DEADLINE:
        _give_up(ctx, row.run)
        return False
    if pins.is_pinned_to(row.run, ctx.pins):
        expired_leases.release_expired_leases(ctx, probe.run)
        for stage in ctx.store.count_due_servers(probe.run, ctx.clock.wall()):
            task = schedule.SHARD_TASKS[stage]
            if not queues.waiting(schedule.TASK_QUEUES[task]) and not _has_due_servers(ctx, stage):
                queues.issue(task, probe.run)
    return True


def _start_probe(ctx: Context, due_probe: AwaitingFullProbe, *, by_stages: bool) -> Run | None:
    """Plan the run of a full probe; None when it is no longer due or another process has started it."""
    at = ctx.clock.wall()
    name = make_run_id(at, _MARK)
    server = _find_probe_target(ctx, due_probe, name)
    if server is None:
        ctx.store.full_probes.record_full_probe(due_probe.retest, None)
        return None
    options = RunOptions(registries=(), only=(server.id,))
    run = pipeline.start_run(ctx, Trigger.RETEST, options, run_id=name)
    ctx.store.plan_run(run.id, [server.id], at, first={server.id: routing.first_stage(server)} if by_stages else {})
    if ctx.store.full_probes.record_full_probe(due_probe.retest, run.id):
        ctx.log.info("full_probe_begun", retest=due_probe.retest, run=run.id, server=server.id)
        return run
    ctx.store.set_run_state(run.id, RunState.CANCELLED, at)
    return None


def _find_probe_target(ctx: Context, due_probe: AwaitingFullProbe, run: str) -> Server | None:
    """The server, when its re-test left a full probe due and no later run has collected it."""
    server = ctx.store.find_server(due_probe.server)
    if server is None or load_opt_outs(ctx.settings, ctx.store).why(server):
        return None
    record = ctx.store.read_dossiers(due_probe.run, [server.id])[0].records.get(exchanges.KIND)
    if record is None or record.observation.get(FULL_DUE) is not True:
        return None
    turn = ctx.store.read_last_collection_times(run, [server.id]).get(server.id)
    return server if turn is None or turn <= due_probe.finished_at else None


def _finish_if_scored(ctx: Context, run: Run) -> bool:
    """Finish a run when it is scored; return whether it is."""
    if ctx.store.list_pending_servers(run.id, Stage.SCORE):
        return False
    if ctx.store.set_run_state(run.id, RunState.DONE, ctx.clock.wall(), _DONE):
        ctx.log.info("full_probe_done", run=run.id)
    return True


def _give_up(ctx: Context, run: Run) -> None:
    if ctx.store.set_run_state(run.id, RunState.CANCELLED, ctx.clock.wall(), DEADLINE_MISSED):
        ctx.log.warning("full_probe_late", run=run.id)


def _has_due_servers(ctx: Context, stage: Stage) -> bool:
    """Whether a nightly run has servers that are due now in a stage."""
    nights = [row.run.id for row in ctx.store.list_unfinished_runs(Trigger.NIGHTLY) if row.state is RunState.PLANNED]
    return any(stage in ctx.store.count_due_servers(night, ctx.clock.wall(), most=1) for night in nights)
