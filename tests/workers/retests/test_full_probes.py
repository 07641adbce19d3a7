"""A full probe follows on a re-test: behind every night, once, and not where a night has been already."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from evidence.kinds import exchanges
from evidence.model import Run, Trigger
from evidence.store import Retest, RetestState, RunRow, RunState, Stage
from tests.stepping_clock import SteppingClock
from tests.workers.retests.test_execution import finished, pong, real_server, waiting
from workers import embedded, schedule
from workers.context import Context
from workers.nightly import shards
from workers.retests import full_probes, retest_requests
from workers.runs.identifiers import make_run_id
from workers.runs.options import RunOptions
from workers.stages import earlier_evidence

STAGES = {task: stage for stage, task in schedule.SHARD_TASKS.items()}


class Queues:
    """Queues that keep what is put into them; `behind` says how much waits in which already."""

    def __init__(self, behind: Mapping[str, int] | None = None) -> None:
        self.tasks: list[tuple[str, str]] = []
        self._behind = behind or {}

    def issue(self, task: str, run: str) -> None:
        self.tasks.append((task, run))

    def waiting(self, queue: str) -> int:
        return self._behind.get(queue, 0)


async def worked(ctx: Context, rounds: int = 4) -> None:
    """What beat and workers do until nothing is left."""
    for _ in range(rounds):
        queues = Queues()
        await full_probes.advance_full_probes(ctx, queues)
        for task, run in queues.tasks:
            if task == schedule.SCORE_SHARD:
                await shards.score_shard(ctx, run)
            else:
                await shards.collect_shard(ctx, run, STAGES[task])


def probes(ctx: Context) -> list[RunRow]:
    """The runs of full probes, newest first."""
    return [row for row in ctx.store.list_runs(50, triggers=[Trigger.RETEST]) if "-full-" in row.run.id]


def night(ctx: Context, server: str, suffix: str = "") -> str:
    """A night without any work done yet."""
    run = Run(id=make_run_id(ctx.clock.wall()) + suffix, trigger=Trigger.NIGHTLY, as_of=ctx.clock.now(), pins=ctx.pins)
    ctx.store.add_run(run)
    ctx.store.plan_run(run.id, [server], ctx.clock.wall(), first={server: Stage.PROBE})
    return run.id


async def retested(ctx: Context, server: str) -> Retest:
    found = await finished(ctx, waiting(ctx, server))
    assert found.state is RetestState.DONE
    return found


def test_a_full_probe_completes_a_retest_when_no_other_work_waits(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, server, one):
            server.inner.overrides["ping"] = pong
            retest = await retested(ctx, one)
            server.arrived.clear()
            await worked(ctx)
            [row] = probes(ctx)
            assert row.state is RunState.DONE
            assert len(server.arrived) > 30
            assert retest_requests.find_newest_run(ctx.store, one, retest.run or "") == row.run.id
            before, after = (
                {card.rubric: card.score for card in ctx.store.read_scorecards(run, servers=[one])}
                for run in (retest.run or "", row.run.id)
            )
            assert before == after, "the same server, asked more"

            server.arrived.clear()
            await worked(ctx)
            assert (server.arrived, len(probes(ctx))) == ([], 1), "once"

    asyncio.run(main())


def test_the_night_after_a_full_probe_need_not_ask_everything_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, server, one):
            assert isinstance(ctx.clock, SteppingClock)
            await retested(ctx, one)
            await worked(ctx)
            ctx.clock.step(timedelta(hours=22))
            run = night(ctx, one)
            row = ctx.store.find_run(run)
            assert row is not None
            earlier = earlier_evidence.read_earlier_evidence(ctx.store, row.run, [one], ctx.clock.now())[one]
            [probe] = probes(ctx)
            assert (
                earlier.records[exchanges.KIND]
                == ctx.store.read_dossiers(probe.run.id, [one])[0].records[exchanges.KIND]
            )
            assert "full_due" not in earlier.records[exchanges.KIND].observation
            server.arrived.clear()
            await embedded.run_embedded(ctx, RunOptions(registries=ctx.settings.registry_names))
            assert 0 < len(server.arrived) <= 30

    asyncio.run(main())


def test_it_waits_while_a_night_waits_for_the_same_workers(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, server, one):
            await retested(ctx, one)
            busy = night(ctx, one)
            server.arrived.clear()
            await worked(ctx)
            assert (probes(ctx), server.arrived) == ([], [])
            ctx.store.set_run_state(busy, RunState.CANCELLED, ctx.clock.wall())
            await full_probes.advance_full_probes(ctx, Queues())
            [row] = probes(ctx)
            busy = night(ctx, one, "-2")
            queues = Queues()
            await full_probes.advance_full_probes(ctx, queues)
            assert queues.tasks == []
            ctx.store.set_run_state(busy, RunState.CANCELLED, ctx.clock.wall())
            queues = Queues({schedule.PROBE_QUEUE: 1})
            await full_probes.advance_full_probes(ctx, queues)
            assert queues.tasks == []
            await worked(ctx)
            assert [each.state for each in probes(ctx)] == [RunState.DONE]
            assert probes(ctx)[0].run.id == row.run.id

    asyncio.run(main())


def test_where_a_night_was_first_nothing_is_asked_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, server, one):
            assert isinstance(ctx.clock, SteppingClock)
            await retested(ctx, one)
            ctx.clock.step(timedelta(minutes=1))
            await embedded.run_embedded(ctx, RunOptions(registries=ctx.settings.registry_names))
            server.arrived.clear()
            await worked(ctx)
            assert (probes(ctx), server.arrived) == ([], [])

    asyncio.run(main())


def test_one_that_does_not_end_in_time_is_left_to_the_night(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, _, one):
            assert isinstance(ctx.clock, SteppingClock)
            retest = await retested(ctx, one)
            await full_probes.advance_full_probes(ctx, Queues())
            ctx.clock.step(full_probes.FULL_PROBE_DEADLINE + timedelta(seconds=1))
            await worked(ctx)
            [row] = probes(ctx)
            assert (row.state, row.note) == (RunState.CANCELLED, full_probes.DEADLINE_MISSED)
            assert retest.run is not None
            assert retest_requests.find_newest_run(ctx.store, one, "") == retest.run

    asyncio.run(main())


def test_as_many_as_the_settings_say_are_under_way(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, _, one):
            await retested(ctx, one)
            none = replace(ctx.settings, full_probes_at_once=0)
            narrow = Context(none, store=ctx.store, clock=ctx.clock, log=ctx.log, wiring=ctx.wiring)
            await full_probes.advance_full_probes(narrow, Queues())
            assert probes(ctx) == []

    asyncio.run(main())


def test_without_workers_it_is_made_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with real_server(tmp_path) as (ctx, server, one):
            retest = await retested(ctx, one)
            server.arrived.clear()
            run = await full_probes.run_full_probe(ctx, retest.id)
            assert len(server.arrived) > 30
            assert [(row.run.id, row.state) for row in probes(ctx)] == [(run, RunState.DONE)]
            assert await full_probes.run_full_probe(ctx, retest.id) is None

    asyncio.run(main())
