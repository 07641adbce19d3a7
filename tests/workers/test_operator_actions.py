"""Actions of operators reach the workers: they lease no more servers, and stored evidence stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from evidence.model import Trigger
from evidence.store import RunAction, RunEvent, Stage
from tests.workers.world import NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import pipeline, schedule
from workers.context import Context
from workers.nightly import closing, shards, steps
from workers.runs.options import RunOptions

RUN = "20261121T030000Z-nightly"
SERVERS = 60


@asynccontextmanager
async def _my_turn(_: str) -> AsyncIterator[bool]:
    yield True


class Queues:
    """Queues that count what is issued."""

    def __init__(self) -> None:
        self.issued: list[str] = []

    def issue(self, task: str, run_id: str) -> None:
        self.issued.append(task)

    def waiting(self, queue: str) -> int:
        return 0


def _world(collector: ScriptedCollector) -> World:
    return World([ScriptedRegistry("first", [[ref(number) for number in range(SERVERS)]])], [collector])


def _act(ctx: Context, what: RunAction) -> None:
    ctx.store.apply_run_action(RUN, RunEvent(at=NIGHT, who="operator", what=what))


async def _stopped_midway(ctx: Context, collector: ScriptedCollector, what: RunAction) -> int:
    """Collect until some servers were probed, and let an operator act; how many are collected when all is quiet."""
    await steps.plan_due_runs(ctx, _my_turn)
    working = asyncio.create_task(shards.collect_shard(ctx, RUN, Stage.PROBE))
    while len(collector.probed) < 10:
        await asyncio.wait([working], timeout=0.01)
    collector.delay = 1.0  # the run is not over before the task sees the decision
    await asyncio.to_thread(_act, ctx, what)
    await working
    collector.delay = 0.0
    return ctx.store.read_progress(RUN).done[Stage.COLLECT]


async def _swept(ctx: Context) -> list[str]:
    queues = Queues()
    await steps.issue_due_tasks(ctx, lambda _: queues, forward=True)
    return queues.issued


def _context(home: Path, collector: ScriptedCollector):  # type: ignore[no-untyped-def]
    quick = {"lease_ttl": timedelta(seconds=0.3), "in_flight": 1, "write_batch": 1, "stop_grace": 5.0}
    return context(home, _world(collector), registries=("first",), **quick)


def test_a_pause_ends_a_shard_in_the_middle_of_its_chunk_and_resuming_does_the_rest(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector(delay=0.02)
        async with _context(tmp_path, collector) as ctx:
            done = await _stopped_midway(ctx, collector, RunAction.PAUSED)
            assert 10 <= done < SERVERS
            assert ctx.store.count_held_items(RUN) == 0
            assert await _swept(ctx) == []
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            await closing.publish_run(ctx, RUN)
            assert len(collector.probed) == done
            _act(ctx, RunAction.RESUMED)
            assert schedule.PROBE_SHARD in await _swept(ctx)
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert sorted(collector.probed) == ctx.store.list_planned_servers(RUN), (
                "no server twice, no server forgotten"
            )

    asyncio.run(main())


def test_a_cancelled_night_is_left_alone_and_keeps_what_it_saw(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector(delay=0.02)
        async with _context(tmp_path, collector) as ctx:
            done = await _stopped_midway(ctx, collector, RunAction.CANCELLED)
            assert await _swept(ctx) == []
            await steps.plan_due_runs(ctx, _my_turn)
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            await shards.score_shard(ctx, RUN)
            await closing.publish_run(ctx, RUN)
            assert ctx.store.find_snapshot(RUN) is None
            assert ctx.store.count_held_items(RUN) == 0
            known = ctx.store.read_dossiers(RUN, ctx.store.list_planned_servers(RUN))
            assert sum("listing" in dossier.records for dossier in known) == done
            assert len(collector.probed) == done

    asyncio.run(main())


def test_a_night_started_by_hand_is_planned_by_the_next_sweep(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, ScriptedCollector()) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            _act(ctx, RunAction.CANCELLED)
            run = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)))
            at = ctx.clock.wall()
            ctx.store.record_walk_failure(run.id, "first", "HTTP 500", at)
            assert await _swept(ctx) == [], "a registry that failed is asked again when beat asks"
            ctx.store.apply_run_action(run.id, RunEvent(at=at, who="operator", what=RunAction.STARTED))
            assert await _swept(ctx) == [schedule.PLAN_RUN]
            await steps.plan_due_runs(ctx, _my_turn)
            assert len(ctx.store.list_planned_servers(run.id)) == SERVERS
            assert [row.run.id for row in ctx.store.list_runs()] == sorted([RUN, run.id], reverse=True)

    asyncio.run(main())


def test_a_night_that_is_paused_before_it_is_planned_is_planned_when_it_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, ScriptedCollector()) as ctx:
            options = RunOptions(registries=("first",))
            pipeline.start_run(ctx, Trigger.NIGHTLY, options, run_id=RUN)
            _act(ctx, RunAction.PAUSED)
            await steps.plan_due_runs(ctx, _my_turn)
            assert ctx.store.list_planned_servers(RUN) == []
            _act(ctx, RunAction.RESUMED)
            await steps.plan_due_runs(ctx, _my_turn)
            assert len(ctx.store.list_planned_servers(RUN)) == SERVERS

    asyncio.run(main())
