"""Runs over a host that is too big for one run: every server gets its turn, and keeps its evidence until then."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.model import ServerRef, Trigger
from evidence.store import RunState, Stage
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.context import Context
from workers.nightly import closing
from workers.runs.options import RunOptions
from workers.stages import planning
from workers.stages.host_schedule import HostPace

SERVERS, SHARE = 10, 4
FIRST = RunOptions(registries=("first",))
PACE = HostPace(gap=0.6, requests=8.0, window=timedelta(seconds=SHARE * 7.2 + 1))


def _at_one_host(number: int) -> ServerRef:
    one = ref(number)
    (target,) = one.targets
    return replace(one, targets=(replace(target, identifier=f"https://big.example/{number}/mcp"),))


def _world(collector: ScriptedCollector) -> World:
    return World([ScriptedRegistry("first", [[_at_one_host(number) for number in range(SERVERS)]])], [collector])


async def _night(ctx: Context, clock: SteppingClock, name: str) -> None:
    """One whole night, as slow as its plan wants it."""
    run = pipeline.start_run(ctx, Trigger.NIGHTLY, FIRST, run_id=name)
    await pipeline.discover(ctx, run)
    clock.step(timedelta(minutes=1))
    await pipeline.collect(ctx, run, ctx.store.list_planned_servers(name))
    await pipeline.score(ctx, run, ctx.store.list_planned_servers(name))
    await closing.publish_run(ctx, name)


def test_every_server_of_a_big_host_comes_round_and_keeps_its_evidence_meanwhile(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector()
        async with context(tmp_path, _world(collector), host_window=PACE.window) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            seen: set[str] = set()
            for night in range(3):
                name = f"2026112{night}"
                await _night(ctx, clock, name)
                progress = ctx.store.read_progress(name)
                assert (progress.planned, progress.carried) == (SERVERS, SERVERS - SHARE)
                assert progress.done[Stage.SCORE] == SERVERS
                row = ctx.store.find_run(name)
                assert row is not None
                assert row.state is RunState.PUBLISHED
                assert len(collector.probed) == SHARE
                seen |= set(collector.probed)
                with_evidence = {one.server.id for one in ctx.store.read_dossiers(name, sorted(seen)) if one.records}
                assert with_evidence == seen, "what was seen once is never missing again"
                collector.probed.clear()
                clock.step(timedelta(days=1))
            assert seen == set(ctx.store.list_planned_servers("20261120"))

    asyncio.run(main())


def test_a_server_that_was_never_probed_is_in_the_run_without_a_score(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector()
        async with context(tmp_path, _world(collector), host_window=PACE.window) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await _night(ctx, clock, "20261120")
            waiting = sorted(set(ctx.store.list_planned_servers("20261120")) - set(collector.probed))
            assert len(waiting) == SERVERS - SHARE
            assert {card.score for card in ctx.store.read_scorecards("20261120", servers=waiting)} == {None}

    asyncio.run(main())


@pytest.mark.parametrize("trigger", [Trigger.LOCAL, Trigger.RETEST])
def test_only_a_night_takes_turns(tmp_path: Path, trigger: Trigger) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(ScriptedCollector()), host_window=PACE.window) as ctx:
            run = pipeline.start_run(ctx, trigger, FIRST)
            await pipeline.discover(ctx, run)
            assert ctx.store.read_progress(run.id).carried == 0

    asyncio.run(main())


def test_the_settings_say_what_a_host_can_take(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(ScriptedCollector()), host_gap=1.0, allow_private=True) as ctx:
            pace = planning.read_host_pace(ctx.settings)
            assert (pace.gap, pace.requests, pace.window, pace.no_gap) == (1.0, 8.0, timedelta(hours=6), True)

    asyncio.run(main())
