"""What is observed while this process stands still is dropped and asked again, and never becomes a server's failure."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evidence.kinds import listing
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server
from evidence.store import Stage
from tests.stepping_clock import SteppingClock
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import stall_watch
from workers.clock import SystemClock
from workers.coordination.circuit_breaker import LocalHostFailures
from workers.embedded import run_embedded
from workers.nightly import shards, steps
from workers.runs.options import RunOptions
from workers.stages import routing
from workers.stall_watch import MAX_POSTPONEMENTS, MAX_VISITS, STALL_SECONDS, STOOD_STILL, StallWatch, StoodStill

RUN = "20261121T030000Z-nightly"
START = datetime(2026, 11, 21, 3, 1, tzinfo=UTC)
STALL = timedelta(seconds=2 * STALL_SECONDS)


class Suspended(SystemClock):
    """The clock of a machine that is suspended: the monotonic clock does not show it."""

    def __init__(self) -> None:
        self.boot, self.by_wall = 0.0, timedelta()

    def since_boot(self) -> float:
        return super().since_boot() + self.boot

    def wall(self) -> datetime:
        return super().wall() + self.by_wall


class Stalling:
    """Says that a server does not answer whenever the machine stood still during the visit."""

    def __init__(self, clock: SteppingClock, times: int) -> None:
        self.visits = 0
        self._clock, self._times = clock, times

    def __call__(self, _: Server) -> Observed | Absent:
        self.visits += 1
        if self.visits > self._times:
            return Observed(LISTING)
        self._clock.step(STALL)
        return Absent(Reason.TIMEOUT, "no answer in 30 s")


class Blocking(ScriptedCollector):
    """Blocks the loop at every visit of the first server, during the much longer visits of the second one."""

    def __init__(self, clock: SteppingClock) -> None:
        super().__init__()
        self.visits: Counter[str] = Counter()
        self._clock = clock

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        self.visits[target.name] += 1
        is_first = target.name == ref(0).name
        for _ in range(10 if is_first else 10_000):
            await asyncio.sleep(0)
        if is_first:
            self._clock.step(STALL)
        return await super().collect(target, earlier)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_watch, "_SETTLE_SECONDS", 0.0)


@asynccontextmanager
async def _my_turn(_: str) -> AsyncIterator[bool]:
    yield True


def _jump_boot_clock(clock: Suspended) -> None:
    clock.boot += 60


def _jump_wall_clock(clock: Suspended) -> None:
    clock.by_wall += timedelta(seconds=60)


@pytest.mark.parametrize("jump", [_jump_boot_clock, _jump_wall_clock])
def test_a_suspended_machine_drops_what_was_in_flight(jump: Callable[[Suspended], None]) -> None:
    async def main() -> None:
        clock, recovered = Suspended(), asyncio.Event()

        async def recover() -> None:
            recovered.set()

        async with StallWatch(clock, recover) as watch:
            with pytest.raises(StoodStill):
                async with watch.visit():
                    jump(clock)
                    await asyncio.sleep(300)  # cancelled by the watch
            await watch.recovered()
            assert recovered.is_set()
            async with watch.visit():
                pass

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_loop_that_is_scheduled_is_never_taken_for_one_that_stood_still() -> None:
    async def main() -> None:
        clock = SteppingClock(START)
        async with StallWatch(clock) as watch, watch.visit():
            clock.step(timedelta(seconds=STALL_SECONDS))
            clock.step(-timedelta(hours=1))  # an operator corrects the time

    asyncio.run(main())


def test_a_time_out_of_a_server_stays_one() -> None:
    async def main() -> None:
        async with StallWatch(SystemClock()) as watch, watch.visit():
            raise TimeoutError("of the server")

    with pytest.raises(TimeoutError, match="of the server"):
        asyncio.run(main())


async def _listing_after(home: Path, times: int) -> tuple[Observed | Absent, int, bool]:
    """What a night records of a server during whose first visits the machine stood still, the visits, and the pause."""
    clock = SteppingClock(START)
    answer, failures = Stalling(clock, times), LocalHostFailures(clock, 1, timedelta(hours=1))
    world = World([ScriptedRegistry("first", [[ref(0)]])], [ScriptedCollector(answer)])
    async with context(home, world, registries=("first",), retries=0) as ctx:
        ctx.clock = clock
        await steps.plan_due_runs(ctx, _my_turn)
        clock.step(timedelta(minutes=1))
        [server] = ctx.store.list_planned_servers(RUN)
        while ctx.store.list_pending_servers(RUN, Stage.COLLECT):
            await shards.collect_shard(ctx, RUN, Stage.PROBE, host_failures=failures)
            clock.step(ctx.settings.lease_ttl)
        [dossier] = ctx.store.read_dossiers(RUN, [server])
        host = routing.find_probed_host(dossier.server)
        paused = host is not None and await failures.is_paused(host)
        return dossier.records[listing.KIND].content, answer.visits, paused


def test_a_server_is_asked_again_after_a_stall_and_nothing_is_held_against_it(tmp_path: Path) -> None:
    content, visits, paused = asyncio.run(_listing_after(tmp_path, 2))
    assert isinstance(content, Observed)
    assert (visits, paused) == (3, False)


def test_a_machine_that_always_stands_still_says_so_and_blames_no_server(tmp_path: Path) -> None:
    content, visits, paused = asyncio.run(_listing_after(tmp_path, 99))
    assert content == Absent(Reason.COLLECTOR_ERROR, STOOD_STILL)
    assert (visits, paused) == (MAX_VISITS * (1 + MAX_POSTPONEMENTS), False)


def test_a_server_of_a_machine_that_stands_still_for_long_is_measured_later(tmp_path: Path) -> None:
    content, visits, paused = asyncio.run(_listing_after(tmp_path, MAX_VISITS + 1))
    assert isinstance(content, Observed)
    assert (visits, paused) == (MAX_VISITS + 2, False)


def test_a_server_that_blocks_the_loop_at_every_visit_spoils_no_other(tmp_path: Path) -> None:
    """All visits in flight are made again; the last ones take turns, so that only the culprit stalls its own."""

    async def main() -> None:
        clock = SteppingClock(START)
        collector = Blocking(clock)
        world = World([ScriptedRegistry("first", [[ref(0), ref(1)]])], [collector])
        async with context(tmp_path, world, registries=("first",)) as ctx:
            ctx.clock = clock
            await run_embedded(ctx, RunOptions(registries=("first",)))
            [row] = ctx.store.list_runs()
            dossiers = ctx.store.read_dossiers(row.run.id, ctx.store.list_planned_servers(row.run.id))
        found = {dossier.server.name: dossier.records[listing.KIND].content for dossier in dossiers}
        assert found == {ref(0).name: Absent(Reason.COLLECTOR_ERROR, STOOD_STILL), ref(1).name: Observed(LISTING)}
        assert collector.visits == {ref(0).name: MAX_VISITS, ref(1).name: MAX_VISITS}

    asyncio.run(main())


def test_an_embedded_run_asks_again_too(tmp_path: Path) -> None:
    async def main() -> None:
        clock = SteppingClock(START)
        answer = Stalling(clock, 1)
        world = World([ScriptedRegistry("first", [[ref(0)]])], [ScriptedCollector(answer)])
        async with context(tmp_path, world, registries=("first",)) as ctx:
            ctx.clock = clock
            result = await run_embedded(ctx, RunOptions(registries=("first",)))
        assert (result.collected, result.absent, answer.visits) == (1, {}, 2)

    asyncio.run(main())


def test_a_server_that_was_taken_over_meanwhile_is_not_asked_again(tmp_path: Path) -> None:
    async def main() -> None:
        clock = SteppingClock(START)
        answer = Stalling(clock, 1)
        world = World([ScriptedRegistry("first", [[ref(0)]])], [ScriptedCollector(answer)])
        async with context(tmp_path, world, registries=("first",), lease_ttl=timedelta(seconds=STALL_SECONDS)) as ctx:
            ctx.clock = clock
            await steps.plan_due_runs(ctx, _my_turn)
            clock.step(timedelta(minutes=1))
            step = clock.step

            def taken_over(by: timedelta) -> None:
                step(by)
                taken = ctx.store.lease_servers(
                    RUN, Stage.PROBE, "other", limit=9, ttl=timedelta(hours=1), now=clock.wall(), tried=1
                )
                assert len(taken) == 1

            monkey.setattr(clock, "step", taken_over)
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert ctx.store.list_pending_servers(RUN, Stage.COLLECT)
        assert answer.visits == 1

    with pytest.MonkeyPatch.context() as monkey:
        asyncio.run(main())
