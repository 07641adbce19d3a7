"""What a task holds: renewed while it works, given back when it ends, and no longer worked on when the run stops."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Collection, MutableMapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from evidence.model import ServerId
from evidence.store import RunState, Stage, Store, StoreUnavailable
from tests.stepping_clock import SteppingClock
from tests.workers.world import ScriptedCollector, ScriptedRegistry, World, context, ref
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination import expired_leases, leases
from workers.coordination.leases import Leases
from workers.nightly import shards, steps

RUN = "20261121T030000Z-nightly"
SHORT = timedelta(seconds=0.3)


@asynccontextmanager
async def _my_turn(name: str) -> AsyncIterator[bool]:
    yield True


@asynccontextmanager
async def _night(home: Path, **changes: object) -> AsyncIterator[Context]:
    world = World([ScriptedRegistry("first", [[ref(number) for number in range(4)]])], [ScriptedCollector()])
    async with context(home, world, registries=("first",), **{"lease_ttl": SHORT, **changes}) as ctx:
        await steps.plan_due_runs(ctx, _my_turn)
        yield ctx


def test_what_a_living_task_holds_is_not_taken_over_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewals: list[int] = []
    renew, clocks = Store.renew_leases, list[SteppingClock]()

    def watched(
        self: Store,
        run: str,
        stage: Stage,
        worker: str,
        servers: Collection[ServerId],
        *,
        ttl: timedelta,
        now: datetime,
    ) -> list[ServerId]:
        held = renew(self, run, stage, worker, servers, ttl=ttl, now=now)
        renewals.append(len(held))
        clocks[0].step(SHORT / 3)  # so much may pass between two renewals
        return held

    async def main() -> None:
        monkeypatch.setattr(Store, "renew_leases", watched)
        async with _night(tmp_path) as ctx:
            ctx.clock = SteppingClock(ctx.clock.wall())
            clocks.append(ctx.clock)
            mine, other = Leases(ctx, RUN, Stage.PROBE), Leases(ctx, RUN, Stage.PROBE)
            async with mine.hold(Halt()):
                assert len(await mine.pull()) == 4
                while len(renewals) < 6:  # twice as long as a lease lasts
                    assert not await other.pull()
                    assert not await other.pull_suspects()
                    await asyncio.sleep(0.01)
            assert set(renewals) == {4}
            assert len(await other.pull()) == 4, "given back, and not counted as handed out"

    asyncio.run(asyncio.wait_for(main(), 300))


def test_a_shard_of_a_run_that_was_paused_halts(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path) as ctx:
            mine, halt = Leases(ctx, RUN, Stage.PROBE), Halt()
            async with mine.hold(halt):
                await mine.pull()
                ctx.store.set_run_state(RUN, RunState.PAUSED, ctx.clock.wall())
                await halt.wait()

    asyncio.run(asyncio.wait_for(main(), 300))


@pytest.mark.usefixtures("all_events")
def test_a_renewal_that_fails_in_any_way_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renew, failures = Store.renew_leases, [RuntimeError("a bug"), StoreUnavailable("away"), KeyError("another")]
    renewed = asyncio.Event()

    def flaky(self: Store, *which: object, **options: object) -> list[ServerId]:
        if failures:
            raise failures.pop()
        renewed.set()
        return renew(self, *which, **options)  # type: ignore[arg-type]

    async def main() -> list[MutableMapping[str, Any]]:
        monkeypatch.setattr(Store, "renew_leases", flaky)
        async with _night(tmp_path, lease_ttl=timedelta(seconds=0.03)) as ctx:
            mine = Leases(ctx, RUN, Stage.PROBE)
            await mine.pull()
            with capture_logs() as logged:
                async with mine.hold(Halt()):
                    await renewed.wait()
            return logged

    logged = asyncio.run(asyncio.wait_for(main(), 300))
    failed = [event for event in logged if event["event"] == "leases_not_renewed"]
    assert [event["error"] for event in failed[:3]] == ["KeyError", "StoreUnavailable", "RuntimeError"]


def test_a_database_that_is_away_for_a_moment_gets_back_what_was_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, tries = Store.release_leases, []

    def flaky(self: Store, run: str, stage: Stage, worker: str) -> None:
        tries.append(worker)
        if len(tries) < 3:
            raise StoreUnavailable("away")
        release(self, run, stage, worker)

    async def main() -> None:
        monkeypatch.setattr(Store, "release_leases", flaky)
        monkeypatch.setattr(leases, "_RELEASE_PAUSES", (0.0, 0.0, 0.0))
        async with _night(tmp_path) as ctx:
            mine = Leases(ctx, RUN, Stage.PROBE)
            async with mine.hold(Halt()):
                assert len(await mine.pull()) == 4
            assert len(await Leases(ctx, RUN, Stage.PROBE).pull()) == 4

    asyncio.run(asyncio.wait_for(main(), 300))


def test_servers_whose_leases_expired_while_their_holder_stood_still_are_no_suspects(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path) as ctx:
            clock = SteppingClock(ctx.clock.wall())
            ctx.clock = clock
            mine, other = Leases(ctx, RUN, Stage.PROBE), Leases(ctx, RUN, Stage.PROBE)
            async with mine.hold(Halt()):
                taken = await mine.pull()
                clock.step(2 * SHORT)
                ctx.store.release_expired_leases(RUN, clock.wall())
                while mine.find_tokens(taken):
                    await asyncio.sleep(0.01)  # the renewal finds out before the recovery
                await mine.recover()
                await mine.release()
                assert len(await other.pull()) == 4

    asyncio.run(asyncio.wait_for(main(), 300))


def _died() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        pass
    return process.pid


def test_what_a_process_of_this_machine_held_is_free_as_soon_as_it_is_dead(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, lease_ttl=timedelta(hours=1)) as ctx:
            dead = Leases(ctx, RUN, Stage.PROBE, process=_died())
            assert len(await dead.pull()) == 4
            mine = Leases(ctx, RUN, Stage.PROBE)
            assert not await mine.pull_suspects()
            await shards.collect_shard(ctx, RUN, Stage.GITHUB)
            assert len(await mine.pull_suspects()) == 4
            assert not await mine.pull(), "they count as held when a worker died"

    asyncio.run(asyncio.wait_for(main(), 300))


def test_live_and_unknown_workers_keep_their_leases(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, lease_ttl=timedelta(hours=1)) as ctx:
            living = Leases(ctx, RUN, Stage.PROBE)
            assert len(await living.pull()) == 4
            elsewhere = f"another machine:{_died()}:00000000"
            ctx.store.lease_servers(RUN, Stage.GITHUB, elsewhere, limit=4, ttl=timedelta(hours=1), now=ctx.clock.wall())
            held = set(ctx.store.list_lease_holders(RUN))
            expired_leases.release_expired_leases(ctx, RUN)
            assert set(ctx.store.list_lease_holders(RUN)) == held
            assert not await Leases(ctx, RUN, Stage.PROBE).pull_suspects()

    asyncio.run(asyncio.wait_for(main(), 300))
