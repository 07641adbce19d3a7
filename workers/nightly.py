"""The steps as the Celery mode calls them: what is due, who does it, and when it is finished.

Progress is rows. A task that is lost, repeated or killed changes nothing but time: the next sweep sees what is due.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from typing import TypeAlias

from evidence.model import Run, ServerId, Trigger
from evidence.store import RunRow, RunState, Stage
from workers import advisories, light_checks, pins, pipeline, schedule
from workers.broker import Queues, Turn
from workers.context import Context
from workers.flow import Halt
from workers.options import RunOptions

LOOK_BACK = 20
STOP_POLL_SECONDS = 0.5

Stopping: TypeAlias = Callable[[], bool]


def never() -> bool:
    """A worker that is not asked to stop."""
    return False


async def plan_due(ctx: Context, turn: Turn) -> None:
    """Create, discover and plan the nightly run that is due, unless that is done or another worker is at it."""
    run_id = schedule.nightly_run_id(schedule.due_slot(ctx.settings, ctx.clock.now()))
    known = await asyncio.to_thread(ctx.store.run, run_id)
    if known is not None and (known.state is not RunState.DISCOVERING or not _is_ours(ctx, known.run)):
        return
    async with turn(f"plan:{run_id}") as mine:
        if mine:
            run = await asyncio.to_thread(pipeline.start_run, ctx, Trigger.NIGHTLY, _options(ctx), run_id=run_id)
            await pipeline.discover(ctx, run)


async def light_check(ctx: Context, turn: Turn, stopping: Stopping = never) -> None:
    """Take samples of the remotes that are due until the task's time is over, unless another worker is at it."""
    async with turn("light-check") as mine:
        if not mine:
            return
        halt = Halt()
        watching = asyncio.create_task(_halt_when(stopping, halt))
        ending = asyncio.get_running_loop().call_later(ctx.settings.shard_time.total_seconds(), halt.set)
        try:
            await light_checks.check(ctx, halt=halt)
        finally:
            ending.cancel()
            watching.cancel()


async def sweep(ctx: Context, queues: Queues) -> None:
    """Issue tasks for everything that is due in unfinished nightly runs of this code's versions."""
    for row in await asyncio.to_thread(ctx.store.runs, LOOK_BACK):
        if row.run.trigger is Trigger.NIGHTLY and row.state is RunState.PLANNED and _is_ours(ctx, row.run):
            await asyncio.to_thread(_sweep_run, ctx, row, queues)


async def probe_shard(ctx: Context, run_id: str, stopping: Stopping = never) -> None:
    """Lease and collect until nothing can be leased, the task's time is over or the worker is `stopping`."""
    run = await asyncio.to_thread(_planned, ctx, run_id)
    # Every machine has a mirror of its own, and none may look at servers without one that it could have.
    if run is None or not await advisories.keep_fresh(ctx.settings, ctx.clock):
        return
    leases, halt = Leases(ctx, run_id, Stage.COLLECT), Halt()
    watching = asyncio.create_task(_halt_when(stopping, halt))
    try:
        await pipeline.collect_pulled(ctx, run, leases.pull, halt=halt)
    finally:
        watching.cancel()
        await leases.release()


async def score_shard(ctx: Context, run_id: str, stopping: Stopping = never) -> None:
    """Lease and score until nothing can be leased, the task's time is over or the worker is `stopping`."""
    run = await asyncio.to_thread(_planned, ctx, run_id)
    if run is None:
        return
    leases = Leases(ctx, run_id, Stage.SCORE)
    try:
        while not stopping() and (servers := await leases.pull()):
            await pipeline.score(ctx, run, servers)
    finally:
        await leases.release()


async def publish_run(ctx: Context, run_id: str) -> None:
    """Give the last unscored servers another try and publish the run.

    Past its deadline it is published with parts missing, or abandoned when nothing at all was scored.
    """
    row = await asyncio.to_thread(ctx.store.run, run_id)
    if row is not None and row.state is RunState.PLANNED:
        unscored = await asyncio.to_thread(ctx.store.pending, run_id, Stage.SCORE)
        await pipeline.score(ctx, row.run, unscored)
        late = _is_late(ctx, row)
        if late and not (await asyncio.to_thread(ctx.store.progress, run_id)).done[Stage.SCORE]:
            ctx.log.error("run_abandoned", run=run_id)
            await asyncio.to_thread(ctx.store.set_state, run_id, RunState.ABANDONED, ctx.clock.wall())
            return
        await pipeline.publish(ctx, row.run, late=late)


class Leases:
    """Servers that this task holds for one stage of a run, handed out in chunks until its time is over."""

    def __init__(self, ctx: Context, run_id: str, stage: Stage) -> None:
        self._ctx = ctx
        self._run_id = run_id
        self._stage = stage
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._deadline = ctx.clock.monotonic() + ctx.settings.shard_time.total_seconds()
        self._seen: set[ServerId] = set()

    async def pull(self) -> Sequence[ServerId]:
        """The next servers that nobody holds, none twice."""
        if self._ctx.clock.monotonic() > self._deadline:
            return ()
        leased = await asyncio.to_thread(self._lease)
        fresh = [server for server in leased if server not in self._seen]
        self._seen.update(fresh)
        return fresh

    async def release(self) -> None:
        """Give back what was not finished."""
        await asyncio.to_thread(self._ctx.store.release, self._run_id, self._stage, self._holder)

    def _lease(self) -> list[ServerId]:
        now, settings = self._ctx.clock.wall(), self._ctx.settings
        return self._ctx.store.lease(
            self._run_id, self._stage, self._holder, limit=settings.lease_chunk, now=now, until=now + settings.lease_ttl
        )


async def _halt_when(stopping: Stopping, halt: Halt) -> None:
    # Another process raises the flag: no event of this loop can be waited for.
    while not stopping():  # noqa: ASYNC110
        await asyncio.sleep(STOP_POLL_SECONDS)
    halt.set()


def _sweep_run(ctx: Context, row: RunRow, queues: Queues) -> None:
    """Probe what is not collected, then score what is not scored, then publish."""
    run_id, progress = row.run.id, ctx.store.progress(row.run.id)
    collected, scored = progress.done.get(Stage.COLLECT, 0), progress.done.get(Stage.SCORE, 0)
    if _is_late(ctx, row):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
    elif collected < progress.planned:
        _fill(ctx, queues, schedule.PROBE_SHARD, run_id, progress.planned - collected)
    elif pipeline.is_publishable(progress):
        _fill(ctx, queues, schedule.PUBLISH_RUN, run_id, 1)
    else:
        _fill(ctx, queues, schedule.SCORE_SHARD, run_id, progress.planned - scored)


def _fill(ctx: Context, queues: Queues, task: str, run_id: str, due: int) -> None:
    """Keep as many tasks waiting as there is work for, at most `shards`; those that find nothing end at once."""
    wanted = min(ctx.settings.shards, -(-due // ctx.settings.lease_chunk))
    for _ in range(wanted - queues.waiting(schedule.ROUTES[task])):
        queues.issue(task, run_id)


def _planned(ctx: Context, run_id: str) -> Run | None:
    """The run when there is work to do on it; None when it is published or abandoned by now."""
    row = ctx.store.run(run_id)
    return row.run if row is not None and row.state is RunState.PLANNED else None


def _is_late(ctx: Context, row: RunRow) -> bool:
    return row.planned_at is not None and ctx.clock.wall() - row.planned_at > ctx.settings.run_deadline


def _is_ours(ctx: Context, run: Run) -> bool:
    try:
        pins.check(run, ctx.pins)
    except pins.PinMismatch:
        ctx.log.warning("run_left_to_other_code", run=run.id)
        return False
    return True


def _options(ctx: Context) -> RunOptions:
    """A nightly run covers all registries of the settings."""
    return RunOptions(registries=ctx.settings.registry_names)
