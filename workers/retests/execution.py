"""What becomes of a request for a re-test: admission after the cool-down, a run of one server, and its end.

Every step may come twice, from any process: states move once, and a server is leased to one worker at a time.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from crawler.collectors.protocol.questions.selection import QuestionSelection
from evidence.model import Run, Trigger
from evidence.store import Retest, RetestState, RunState, Stage
from publish.views.comparisons.receipts import find_lost_places
from workers import pipeline, schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination.broker import TaskQueues
from workers.coordination.leases import Leases
from workers.log import bind_log_context
from workers.retests import full_probes
from workers.retests.restricted_wiring import RetestWiring
from workers.retests.retest_requests import find_retest_start, read_retest_receipts
from workers.runs import pins
from workers.runs.identifiers import make_run_id
from workers.runs.options import RunOptions
from workers.shutdown import IsStopping, halt_when, never_stops

NOT_SCORED: Final = "the server could not be scored, which is our failure: the log says why"
DEADLINE_MISSED: Final = "it did not end in time, which is our failure"
_DONE: Final = "every rubric is scored again"


async def advance_retests(ctx: Context, queues: TaskQueues) -> None:
    """Admit what is due, and go on with the full probes that follow on what is done."""
    await admit_due_retests(ctx, queues)
    await full_probes.advance_full_probes(ctx, queues)


async def admit_due_retests(ctx: Context, queues: TaskQueues) -> int:
    """Admit the requests whose time has come and send a task for each; the number of those admitted.

    A task that seems to be lost is sent again, and what has been under way for too long is given up.
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
    """Fail the re-tests that have been under way for too long; those that are still open, oldest first."""
    known = await asyncio.to_thread(ctx.store.retests.list_unfinished_retests)
    late = [one for one in known if one.state is RetestState.RUNNING and _age(ctx, one) > ctx.settings.retest_deadline]
    for retest in late:
        await asyncio.to_thread(_fail, ctx, retest, DEADLINE_MISSED)
    return [one for one in known if one not in late]


async def admit_retest(ctx: Context, retest: Retest) -> bool:
    """Give a request its run when its time has come; False when it has not, or when it has one."""
    if retest.state is not RetestState.WAITING or find_retest_start(ctx.settings, retest) > ctx.clock.wall():
        return False
    return await asyncio.to_thread(_admit, ctx, retest)


async def run_retest(ctx: Context, retest_id: str, stopping: IsStopping = never_stops) -> None:
    """Look at the server of an admitted request, score it and end the request; nothing to do for any other one."""
    retest = await asyncio.to_thread(ctx.store.retests.find_retest, retest_id)
    if retest is None or retest.state is not RetestState.RUNNING or retest.run is None:
        return
    row = await asyncio.to_thread(ctx.store.find_run, retest.run)
    if row is None:
        return
    with bind_log_context(run=row.run.id, server=retest.server):
        try:
            pins.check_pins(row.run, ctx.pins)
        except pins.PinMismatch:
            await asyncio.to_thread(_give_back, ctx, retest, row.run)
            return
        if row.state is RunState.PLANNED:
            with bind_log_context(stage=Stage.COLLECT.value):
                await _collect(ctx, row.run, retest, stopping)
            with bind_log_context(stage=Stage.SCORE.value):
                await _score(ctx, row.run)
        await asyncio.to_thread(_end, ctx, retest, row.run)


def _admit(ctx: Context, retest: Retest) -> bool:
    """A run planned for a request that another process admitted meanwhile is cancelled before any work."""
    at = ctx.clock.wall()
    options = RunOptions(registries=(), only=(retest.server,))
    run = pipeline.start_run(ctx, Trigger.RETEST, options, run_id=make_run_id(at, "retest"))
    ctx.store.plan_run(run.id, [retest.server], at)
    if ctx.store.retests.admit_retest(retest.id, run.id, at):
        ctx.log.info("retest_admitted", retest=retest.id, run=run.id, server=retest.server)
        return True
    ctx.store.set_run_state(run.id, RunState.CANCELLED, at)
    return False


def _give_back(ctx: Context, retest: Retest, run: Run) -> None:
    """While a deployment is replaced, code that is not this admitted the request: it gets a run of this code."""
    ctx.log.warning("retest_given_back", retest=retest.id)
    if ctx.store.retests.requeue_retest(retest.id, run.id):
        ctx.store.set_run_state(run.id, RunState.CANCELLED, ctx.clock.wall(), "planned by other code")


async def _collect(ctx: Context, run: Run, retest: Retest, stopping: IsStopping) -> None:
    """Ask the server what cost it points; a lease keeps a second delivery from asking as well."""
    before = await asyncio.to_thread(read_retest_receipts, ctx.store, retest, retest.before)
    outside = RetestWiring(ctx.outside, QuestionSelection.for_findings(find_lost_places(before)), ctx.clock.now)
    narrow = Context(ctx.settings, store=ctx.store, clock=ctx.clock, log=ctx.log, outside=outside)
    leases, halt = Leases(ctx, run.id, Stage.COLLECT), Halt()
    watching = asyncio.create_task(halt_when(stopping, halt))
    try:
        async with leases.kept(halt):
            servers = await leases.pull() or await leases.pull_suspects()
            await pipeline.collect(narrow, run, servers, halt=halt)
    finally:
        watching.cancel()


async def _score(ctx: Context, run: Run) -> None:
    leases, halt = Leases(ctx, run.id, Stage.SCORE), Halt()
    async with leases.kept(halt):
        await pipeline.score(ctx, run, await leases.pull() or await leases.pull_suspects(), halt=halt)


def _end(ctx: Context, retest: Retest, run: Run) -> None:
    """End what is over: scored, or tried without success. Anything else goes on with the next delivery."""
    if not ctx.store.list_pending_servers(run.id, Stage.SCORE):
        ctx.store.set_run_state(run.id, RunState.DONE, ctx.clock.wall(), _DONE)
        if ctx.store.retests.finish_retest(retest.id, RetestState.DONE, ctx.clock.wall()):
            ctx.log.info("retest_done", retest=retest.id, run=run.id, server=retest.server)
    elif any(failed.stage is Stage.SCORE for failed in ctx.store.list_failures(run.id)):
        _fail(ctx, retest, NOT_SCORED)


def _age(ctx: Context, retest: Retest) -> timedelta:
    """How long it is since a request was admitted."""
    return ctx.clock.wall() - (retest.admitted_at or retest.asked_at)


def _fail(ctx: Context, retest: Retest, why: str) -> None:
    at = ctx.clock.wall()
    if ctx.store.retests.finish_retest(retest.id, RetestState.FAILED, at, why):
        ctx.log.error("retest_failed", retest=retest.id, run=retest.run, server=retest.server, why=why)
    if retest.run is not None:
        ctx.store.set_run_state(retest.run, RunState.CANCELLED, at, why)
