"""Executes re-tests: admits a request after the cool-down, runs it for one server, and finishes it.

Every step may be repeated by any process: each state change happens once, and one worker leases a server at a time.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from crawler.collectors.protocol.questions.selection import QuestionSelection
from evidence.model import Run, Trigger
from evidence.store import Retest, RetestState, RunState, Stage
from publish.views.comparisons.receipts import find_lost_places
from workers import pipeline, schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination.leases import Leases
from workers.log import bind_log_context
from workers.retests import full_probes
from workers.retests.restricted_wiring import RetestWiring
from workers.retests.retest_requests import find_retest_start, read_retest_receipts
from workers.runs import pins
from workers.runs.identifiers import make_run_id
from workers.runs.options import RunOptions
from workers.shutdown import IsStopping, never_stops, open_halt

if TYPE_CHECKING:
    from workers.coordination.broker import TaskQueues

NOT_SCORED: Final = "the server could not be scored, which is our failure: the log says why"
DEADLINE_MISSED: Final = "it did not end in time, which is our failure"
_DONE: Final = "every rubric is scored again"


async def advance_retests(ctx: Context, queues: TaskQueues) -> None:
    """Admit the re-tests that are due, and advance the full probes that follow finished ones."""
    await admit_due_retests(ctx, queues)
    await full_probes.advance_full_probes(ctx, queues)


async def admit_due_retests(ctx: Context, queues: TaskQueues) -> int:
    """Admit the requests that are due and issue a task for each; return how many were admitted.

    A task that seems lost is issued again, and re-tests past their deadline fail.
    """
    known = await fail_late_retests(ctx)
    running = [one for one in known if one.state is RetestState.RUNNING]
    lost = [one for one in running if _age(ctx, one) > ctx.settings.lease_ttl]
    if lost and not queues.waiting(schedule.RETEST_QUEUE):
        for retest in lost:
            queues.issue(schedule.RUN_RETEST, retest.id)
    free = ctx.settings.retests_at_once - len(running)
    admitted = 0
    for retest in known:
        if admitted < free and retest.state is RetestState.WAITING and await admit_retest(ctx, retest):
            queues.issue(schedule.RUN_RETEST, retest.id)
            admitted += 1
    return admitted


async def fail_late_retests(ctx: Context) -> list[Retest]:
    """Fail the re-tests past their deadline; return those that are still open, oldest first."""
    known = await asyncio.to_thread(ctx.store.retests.list_unfinished_retests)
    overdue = [
        one for one in known if one.state is RetestState.RUNNING and _age(ctx, one) > ctx.settings.retest_deadline
    ]
    for retest in overdue:
        await asyncio.to_thread(_fail, ctx, retest, DEADLINE_MISSED)
    return [one for one in known if one not in overdue]


async def admit_retest(ctx: Context, retest: Retest) -> bool:
    """Create the run of a request that is due; False when it is not due or has a run."""
    if retest.state is not RetestState.WAITING or find_retest_start(ctx.settings, retest) > ctx.clock.wall():
        return False
    return await asyncio.to_thread(_admit, ctx, retest)


async def run_retest(ctx: Context, retest_id: str, stopping: IsStopping = never_stops) -> None:
    """Collect and score the server of an admitted request and finish the request; do nothing in other states."""
    retest = await asyncio.to_thread(ctx.store.retests.find_retest, retest_id)
    if retest is None or retest.state is not RetestState.RUNNING or retest.run is None:
        return
    row = await asyncio.to_thread(ctx.store.find_run, retest.run)
    if row is None:
        return
    with bind_log_context(run=row.run.id, server=retest.server):
        if not pins.is_pinned_to(row.run, ctx.pins):
            await asyncio.to_thread(_requeue, ctx, retest, row.run)
            return
        if row.state is RunState.PLANNED:
            with bind_log_context(stage=Stage.COLLECT.value):
                await _collect(ctx, row.run, retest, stopping)
            with bind_log_context(stage=Stage.SCORE.value):
                await _score(ctx, row.run)
        await asyncio.to_thread(_finish, ctx, retest, row.run)


def _admit(ctx: Context, retest: Retest) -> bool:
    """Plan a run for a request; cancel it when another process has admitted the request meanwhile."""
    at = ctx.clock.wall()
    options = RunOptions(registries=(), only=(retest.server,))
    run = pipeline.start_run(ctx, Trigger.RETEST, options, run_id=make_run_id(at, "retest"))
    ctx.store.plan_run(run.id, [retest.server], at)
    if ctx.store.retests.admit_retest(retest.id, run.id, at):
        ctx.log.info("retest_admitted", retest=retest.id, run=run.id, server=retest.server)
        return True
    ctx.store.set_run_state(run.id, RunState.CANCELLED, at)
    return False


def _requeue(ctx: Context, retest: Retest, run: Run) -> None:
    """Cancel the run that other code planned, during an upgrade, and let this code admit the request again."""
    ctx.log.warning("retest_requeued", retest=retest.id)
    if ctx.store.retests.requeue_retest(retest.id, run.id):
        ctx.store.set_run_state(run.id, RunState.CANCELLED, ctx.clock.wall(), "planned by other code")


async def _collect(ctx: Context, run: Run, retest: Retest, stopping: IsStopping) -> None:
    """Ask the questions behind lost points; a lease keeps a second delivery of the task from asking too."""
    before = await asyncio.to_thread(read_retest_receipts, ctx.store, retest, retest.before)
    wiring = RetestWiring(ctx.wiring, QuestionSelection.for_findings(find_lost_places(before)), ctx.clock.now)
    restricted = Context(ctx.settings, store=ctx.store, clock=ctx.clock, log=ctx.log, wiring=wiring)
    leases = Leases(ctx, run.id, Stage.COLLECT)
    async with open_halt(stopping) as halt, leases.hold(halt):
        servers = await leases.pull() or await leases.pull_suspects()
        await pipeline.collect(restricted, run, servers, halt=halt, leases=leases)


async def _score(ctx: Context, run: Run) -> None:
    leases, halt = Leases(ctx, run.id, Stage.SCORE), Halt()
    async with leases.hold(halt):
        servers = await leases.pull() or await leases.pull_suspects()
        await pipeline.score(ctx, run, servers, halt=halt, leases=leases)


def _finish(ctx: Context, retest: Retest, run: Run) -> None:
    """Finish a request that is scored or whose scoring failed; otherwise the next delivery continues."""
    if not ctx.store.list_pending_servers(run.id, Stage.SCORE):
        ctx.store.set_run_state(run.id, RunState.DONE, ctx.clock.wall(), _DONE)
        if ctx.store.retests.finish_retest(retest.id, RetestState.DONE, ctx.clock.wall()):
            ctx.log.info("retest_done", retest=retest.id, run=run.id, server=retest.server)
    elif any(failed.stage is Stage.SCORE for failed in ctx.store.list_failures(run.id)):
        _fail(ctx, retest, NOT_SCORED)


def _age(ctx: Context, retest: Retest) -> timedelta:
    """Time since a request was admitted."""
    return ctx.clock.wall() - (retest.admitted_at or retest.asked_at)


def _fail(ctx: Context, retest: Retest, why: str) -> None:
    at = ctx.clock.wall()
    if ctx.store.retests.finish_retest(retest.id, RetestState.FAILED, at, why):
        ctx.log.error("retest_failed", retest=retest.id, run=retest.run, server=retest.server, why=why)
    if retest.run is not None:
        ctx.store.set_run_state(retest.run, RunState.CANCELLED, at, why)
