"""Servers that workers died of: handed out in ever smaller company, and set aside after the third time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from evidence.kinds import listing
from evidence.model import Absent, Reason, ServerId
from evidence.store import Stage
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers.context import Context
from workers.coordination.leases import Leases
from workers.nightly import closing, quarantine, shards, steps

RUN = "20261121T030000Z-nightly"


@asynccontextmanager
async def _my_turn(name: str) -> AsyncIterator[bool]:
    yield True


async def _die(ctx: Context, clock: SteppingClock, stage: Stage, times: int) -> list[int]:
    """Workers take what is handed out and never say another word; how many servers each of them took."""
    taken = []
    for _ in range(times):
        leases = Leases(ctx, RUN, stage)
        taken.append(len(await leases.pull() or await leases.pull_suspects()))
        clock.step(ctx.settings.lease_ttl + timedelta(seconds=1))
    return taken


def _world(count: int) -> tuple[World, ScriptedCollector]:
    collector = ScriptedCollector(kinds=("listing", "samples"))
    return World([ScriptedRegistry("first", [[ref(number) for number in range(count)]])], [collector]), collector


def test_who_was_held_when_workers_died_is_handed_out_in_ever_smaller_company(tmp_path: Path) -> None:
    async def main() -> None:
        world, _ = _world(40)
        async with context(tmp_path, world, registries=("first",), lease_chunk=40) as ctx:
            ctx.clock = clock = SteppingClock(NIGHT)
            await steps.plan_due_runs(ctx, _my_turn)
            clock.step(timedelta(minutes=1))
            assert await _die(ctx, clock, Stage.PROBE, 1) == [40]
            assert await _die(ctx, clock, Stage.PROBE, 8) == [5] * 8
            assert await _die(ctx, clock, Stage.PROBE, 3) == [1] * 3

    asyncio.run(main())


def test_after_three_deaths_a_server_is_quarantined_and_the_others_are_probed(tmp_path: Path) -> None:
    async def main() -> None:
        world, collector = _world(3)
        async with context(tmp_path, world, registries=("first",), lease_chunk=1) as ctx:
            ctx.clock = clock = SteppingClock(NIGHT)
            await steps.plan_due_runs(ctx, _my_turn)
            clock.step(timedelta(minutes=1))
            leases = Leases(ctx, RUN, Stage.PROBE)
            (victim,) = await leases.pull()
            for tried in (1, 2):
                clock.step(ctx.settings.lease_ttl)
                assert list(
                    ctx.store.lease_servers(
                        RUN,
                        Stage.PROBE,
                        f"w{tried}",
                        limit=1,
                        ttl=ctx.settings.lease_ttl,
                        now=clock.wall(),
                        tried=tried,
                    )
                ) == [victim]
            clock.step(ctx.settings.lease_ttl)
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert victim not in collector.probed
            assert len(collector.probed) == 2
            (dossier,) = ctx.store.read_dossiers(RUN, [victim])
            why = dossier.read(listing.KIND)
            assert isinstance(why, Absent)
            assert why.reason is Reason.QUARANTINED
            assert ctx.store.list_pending_servers(RUN, Stage.COLLECT) == []
            await shards.score_shard(ctx, RUN)
            assert ctx.store.read_progress(RUN).done[Stage.SCORE] == 3

    asyncio.run(main())


def test_a_server_that_cannot_be_scored_without_dying_is_left_out_and_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        world, _ = _world(100)
        async with context(tmp_path, world, registries=("first",), lease_chunk=100) as ctx:
            ctx.clock = clock = SteppingClock(NIGHT)
            await steps.plan_due_runs(ctx, _my_turn)
            clock.step(timedelta(minutes=1))
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            victim = ctx.store.list_planned_servers(RUN)[0]
            _let_die(ctx, clock, victim)
            await shards.score_shard(ctx, RUN)
            await shards.score_shard(ctx, RUN)
            assert [(one.server, one.attempts) for one in ctx.store.list_failures(RUN)] == [(victim, 1)]
            assert "three workers" in ctx.store.list_failures(RUN)[0].last_error
            assert closing.is_closing_due(ctx, ctx.store.list_runs()[0])
            await closing.publish_run(ctx, RUN)
            assert ctx.store.read_scorecards(RUN, servers=[victim]) == []
            assert b'"scored": 99' in (ctx.store.find_snapshot(RUN) or b"")

    asyncio.run(main())


@pytest.mark.parametrize("leased_again", [True, False])
@pytest.mark.parametrize("stage", [Stage.PROBE, Stage.SCORE])
def test_a_server_whose_last_holder_lives_after_all_is_not_quarantined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: Stage, *, leased_again: bool
) -> None:
    async def main() -> None:
        world, _ = _world(1)
        async with context(tmp_path, world, registries=("first",)) as ctx:
            ctx.clock = clock = SteppingClock(NIGHT)
            await steps.plan_due_runs(ctx, _my_turn)
            clock.step(timedelta(minutes=1))
            if stage is Stage.SCORE:
                await shards.collect_shard(ctx, RUN, Stage.PROBE)
            for tried in range(3):
                assert _lease(ctx, f"w{tried}", stage, tried)
                clock.step(ctx.settings.lease_ttl)
            row, listed = ctx.store.find_run(RUN), ctx.store.list_crash_suspects
            assert row is not None

            def list_before_the_last_holder_answers(*which: object) -> dict[ServerId, int]:
                found = listed(*which)  # type: ignore[arg-type]
                ctx.store.release_expired_leases(RUN, clock.wall())
                ctx.store.excuse_expiry(RUN, stage, "w2", found, now=clock.wall())
                if leased_again:
                    assert _lease(ctx, "w3", stage, 2).keys() == found.keys()
                return found

            monkeypatch.setattr(ctx.store, "list_crash_suspects", list_before_the_last_holder_answers)
            if stage is Stage.SCORE:
                await quarantine.record_scoring_crashes(ctx, row.run)
            else:
                await quarantine.quarantine_crashing_servers(ctx, row.run, stage)
            assert len(ctx.store.list_pending_servers(RUN, stage)) == 1
            assert ctx.store.list_failures(RUN) == []
            assert ctx.store.list_lease_holders(RUN) == ["w3"] * leased_again

    asyncio.run(main())


def _lease(ctx: Context, worker: str, stage: Stage, tried: int) -> dict[ServerId, int]:
    ttl, now = ctx.settings.lease_ttl, ctx.clock.wall()
    return ctx.store.lease_servers(RUN, stage, worker, limit=9, ttl=ttl, now=now, tried=tried)


def _let_die(ctx: Context, clock: SteppingClock, victim: ServerId) -> None:
    """Three workers die while they score one server; what else they held is given back."""
    ttl = ctx.settings.lease_ttl
    for tried in range(3):
        worker = f"w{tried}"
        held = list(
            ctx.store.lease_servers(RUN, Stage.SCORE, worker, limit=200, ttl=ttl, now=clock.wall(), tried=tried)
        )
        assert victim in held
        if tried == 0:
            _give_back_all_but(ctx, held, victim)
        clock.step(ttl)


def _give_back_all_but(ctx: Context, held: list[ServerId], victim: ServerId) -> None:
    others = [server for server in held if server != victim]
    ctx.store.postpone_servers(RUN, Stage.SCORE, others, delay=timedelta(0), why="", most=1, now=ctx.clock.wall())
