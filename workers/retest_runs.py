"""What becomes of a request for a re-test: admission after the cool-down, a run of one server, and its end.

Every step may come twice, from any process: states move once, and a server is leased to one worker at a time.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from crawler.collectors.protocol.chosen import Chosen
from evidence.model import Run, Trigger
from evidence.store import Retest, RetestState, RunState, Stage
from publish.comparison import lost_at
from workers import full_probes, pins, pipeline, schedule
from workers.broker import Queues
from workers.context import Context
from workers.flow import Halt
from workers.leases import Leases
from workers.log import about
from workers.options import RunOptions
from workers.retest_outside import RetestOutside
from workers.retesting import cards_of, ready_at
from workers.run_ids import run_id
from workers.stopping import Stopping, halt_when, never

UNSCORED: Final = "the server could not be scored, which is our failure: the log says why"
LATE: Final = "it did not end in time, which is our failure"
_DONE: Final = "every rubric is scored again"


async def keep_up(ctx: Context, queues: Queues) -> None:
    """Admit what is due, and go on with the full probes that follow on what is done."""
    await admit_due(ctx, queues)
    await full_probes.keep_up(ctx, queues)


async def admit_due(ctx: Context, queues: Queues) -> int:
    """Admit the requests whose time has come and send a task for each; the number of those admitted.

    A task that seems to be lost is sent again, and what has been under way for too long is given up.
    """
    known = await give_up_late(ctx)
    running = [one for one in known if one.state is RetestState.RUNNING]
    lost = [one for one in running if _age(ctx, one) > ctx.settings.lease_ttl]
    if lost and not queues.waiting(schedule.RETEST):
        for retest in lost:
            queues.issue(schedule.RETEST_ONE, retest.id)
    free = ctx.settings.retests_at_once - len(running)
    admitted = 0
    for retest in known:
        if admitted < free and retest.state is RetestState.WAITING and await admit(ctx, retest):
            queues.issue(schedule.RETEST_ONE, retest.id)
            admitted += 1
    return admitted


async def give_up_late(ctx: Context) -> list[Retest]:
    """Fail the re-tests that have been under way for too long; those that are still open, oldest first."""
    known = await asyncio.to_thread(ctx.store.retests.unfinished)
    late = [one for one in known if one.state is RetestState.RUNNING and _age(ctx, one) > ctx.settings.retest_deadline]
    for retest in late:
        await asyncio.to_thread(_fail, ctx, retest, LATE)
    return [one for one in known if one not in late]


async def admit(ctx: Context, retest: Retest) -> bool:
    """Give a request its run when its time has come; False when it has not, or when it has one."""
    if retest.state is not RetestState.WAITING or ready_at(ctx.settings, retest) > ctx.clock.wall():
        return False
    return await asyncio.to_thread(_admit, ctx, retest)


async def run_one(ctx: Context, retest_id: str, stopping: Stopping = never) -> None:
    """Look at the server of an admitted request, score it and end the request; nothing to do for any other one."""
    retest = await asyncio.to_thread(ctx.store.retests.find, retest_id)
    if retest is None or retest.state is not RetestState.RUNNING or retest.run is None:
        return
    row = await asyncio.to_thread(ctx.store.run, retest.run)
    if row is None:
        return
    with about(run=row.run.id, server=retest.server):
        try:
            pins.check(row.run, ctx.pins)
        except pins.PinMismatch:
            await asyncio.to_thread(_give_back, ctx, retest, row.run)
            return
        if row.state is RunState.PLANNED:
            with about(stage=Stage.COLLECT.value):
                await _collect(ctx, row.run, retest, stopping)
            with about(stage=Stage.SCORE.value):
                await _score(ctx, row.run)
        await asyncio.to_thread(_end, ctx, retest, row.run)


def _admit(ctx: Context, retest: Retest) -> bool:
    """A run that is planned for a request that somebody else admitted meanwhile is cancelled: nobody works on it."""
    at = ctx.clock.wall()
    options = RunOptions(registries=(), only=(retest.server,))
    run = pipeline.start_run(ctx, Trigger.RETEST, options, run_id=run_id(at, "retest"))
    ctx.store.plan(run.id, [retest.server], at)
    if ctx.store.retests.admit(retest.id, run.id, at):
        ctx.log.info("retest_admitted", retest=retest.id, run=run.id, server=retest.server)
        return True
    ctx.store.set_state(run.id, RunState.CANCELLED, at)
    return False


def _give_back(ctx: Context, retest: Retest, run: Run) -> None:
    """While a deployment is replaced, code that is not this admitted the request: it gets a run of this code."""
    ctx.log.warning("retest_given_back", retest=retest.id)
    if ctx.store.retests.give_back(retest.id, run.id):
        ctx.store.set_state(run.id, RunState.CANCELLED, ctx.clock.wall(), "planned by other code")


async def _collect(ctx: Context, run: Run, retest: Retest, stopping: Stopping) -> None:
    """Ask the server what cost it points; a lease keeps a second delivery from asking as well."""
    before = await asyncio.to_thread(cards_of, ctx.store, retest, retest.before)
    outside = RetestOutside(ctx.outside, Chosen.behind(lost_at(before)), ctx.clock.now)
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
    if not ctx.store.pending(run.id, Stage.SCORE):
        ctx.store.set_state(run.id, RunState.DONE, ctx.clock.wall(), _DONE)
        if ctx.store.retests.finish(retest.id, RetestState.DONE, ctx.clock.wall()):
            ctx.log.info("retest_done", retest=retest.id, run=run.id, server=retest.server)
    elif any(failed.stage is Stage.SCORE for failed in ctx.store.failures(run.id)):
        _fail(ctx, retest, UNSCORED)


def _age(ctx: Context, retest: Retest) -> timedelta:
    """How long it is since a request was admitted."""
    return ctx.clock.wall() - (retest.admitted_at or retest.asked_at)


def _fail(ctx: Context, retest: Retest, why: str) -> None:
    at = ctx.clock.wall()
    if ctx.store.retests.finish(retest.id, RetestState.FAILED, at, why):
        ctx.log.error("retest_failed", retest=retest.id, run=retest.run, server=retest.server, why=why)
    if retest.run is not None:
        ctx.store.set_state(retest.run, RunState.CANCELLED, at, why)
