"""Two beats, and workers with wrong clocks, on one database."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from evidence.model import Absent, Observed, Reason, Server
from evidence.store import RunState, Stage
from tests.servers.postgres import PostgresServer
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers.clock import FixedClock, SystemClock
from workers.context import Context
from workers.coordination.leases import Leases
from workers.nightly import closing, shards, steps

RUN = "20261121T030000Z-nightly"
HOUR = timedelta(hours=1)


class Skewed(FixedClock):
    """A machine whose clock is wrong; what it records is dated as ever."""

    def __init__(self, at: datetime, by: timedelta) -> None:
        super().__init__(at)
        self._by = by

    def wall(self) -> datetime:
        return SystemClock().wall() + self._by


@pytest.fixture(scope="module")
def postgres(session_postgres: PostgresServer) -> PostgresServer:
    return session_postgres


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.create_database()


@asynccontextmanager
async def _everybodys_turn(_: str) -> AsyncIterator[bool]:
    """The broker forgot whose turn it is."""
    yield True


def _worker(
    home: Path, url: str, collector: ScriptedCollector | None = None, count: int = 30, **changes: object
) -> AbstractAsyncContextManager[Context]:
    refs = [[ref(number) for number in range(start, start + 10)] for start in range(0, count, 10)]
    world = World([ScriptedRegistry("first", refs)], [collector or ScriptedCollector()])
    return context(home, world, registries=("first",), database_url=url, publish_processes=1, **changes)


def _skew(ctx: Context, by: timedelta) -> None:
    ctx.clock = Skewed(ctx.clock.now(), by)


class Counting:
    """Queues that count what is issued."""

    def __init__(self) -> None:
        self.issued: Counter[str] = Counter()

    def issue(self, task: str, run_id: str) -> None:
        self.issued[task] += 1

    def waiting(self, queue: str) -> int:
        return 0


def test_two_beats_that_plan_at_the_same_time_make_one_plan(tmp_path: Path, url: str) -> None:
    async def main() -> None:
        async with _worker(tmp_path, url) as one, _worker(tmp_path, url) as other:
            await asyncio.gather(
                *(steps.plan_due_runs(ctx, _everybodys_turn) for ctx in (one, other) for _ in range(3))
            )
            assert [row.run.id for row in one.store.list_runs()] == [RUN]
            assert len(one.store.list_planned_servers(RUN)) == 30
            progress = one.store.read_progress(RUN)
            assert (progress.planned, progress.done[Stage.COLLECT]) == (30, 0)
            assert one.store.count_due_servers(RUN, one.clock.wall()) == {Stage.PROBE: 30}

    asyncio.run(main())


def test_two_beats_that_sweep_at_the_same_time_have_everything_done_once(tmp_path: Path, url: str) -> None:
    async def main() -> None:
        collector = ScriptedCollector(delay=0.001)
        async with _worker(tmp_path, url, collector) as one, _worker(tmp_path, url, collector) as other:
            await steps.plan_due_runs(one, _everybodys_turn)
            await asyncio.gather(*(shards.collect_shard(ctx, RUN, Stage.PROBE) for ctx in (one, other)))
            await asyncio.gather(*(shards.score_shard(ctx, RUN) for ctx in (one, other)))
            await asyncio.gather(*(closing.publish_run(ctx, RUN) for ctx in (one, other)))
            assert sorted(collector.probed) == one.store.list_planned_servers(RUN)
            row = one.store.find_run(RUN)
            assert row is not None
            assert row.state is RunState.PUBLISHED
            assert one.store.verify() == []

    asyncio.run(main())


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_a_worker_whose_clock_is_wrong_takes_nothing_from_others(tmp_path: Path, url: str, by: timedelta) -> None:
    async def main() -> None:
        async with _worker(tmp_path, url) as right, _worker(tmp_path, url) as wrong:
            _skew(wrong, by)
            await steps.plan_due_runs(wrong, _everybodys_turn)
            mine = await Leases(right, RUN, Stage.PROBE).pull()
            assert len(mine) == 30, "its plan is due for everybody"
            assert await Leases(wrong, RUN, Stage.PROBE).pull() == []
            await asyncio.to_thread(wrong.store.release_expired_leases, RUN, wrong.clock.wall())
            assert await Leases(wrong, RUN, Stage.PROBE).pull() == []

    asyncio.run(main())


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_what_a_worker_with_a_wrong_clock_holds_is_taken_over_in_time(tmp_path: Path, url: str, by: timedelta) -> None:
    async def main() -> None:
        async with _worker(tmp_path, url) as right, _worker(tmp_path, url, lease_ttl=timedelta(0)) as wrong:
            _skew(wrong, by)
            await steps.plan_due_runs(right, _everybodys_turn)
            assert len(await Leases(wrong, RUN, Stage.PROBE).pull()) == 30
            assert len(await Leases(right, RUN, Stage.PROBE).pull_suspects()) > 0

    asyncio.run(main())


def test_a_worker_whose_clock_is_ahead_publishes_nothing_early(tmp_path: Path, url: str) -> None:
    async def main() -> None:
        async with _worker(tmp_path, url) as right, _worker(tmp_path, url) as wrong:
            await steps.plan_due_runs(right, _everybodys_turn)
            leases = Leases(right, RUN, Stage.PROBE)
            assert await leases.pull()
            _skew(wrong, wrong.settings.run_deadline + HOUR)
            queues = Counting()
            await steps.issue_due_tasks(wrong, lambda _: queues, forward=True)
            assert queues.issued == {}
            row = wrong.store.find_run(RUN)
            assert row is not None
            assert not closing.is_past_deadline(wrong, row)

    asyncio.run(main())


def test_a_worker_whose_clock_is_ahead_probes_no_server_again_too_early(tmp_path: Path, url: str) -> None:
    def answer(server: Server) -> Observed | Absent:
        return Absent(Reason.TIMEOUT) if server.name.endswith("-3") else Observed(LISTING)

    async def main() -> None:
        collector = ScriptedCollector(answer)
        async with _worker(tmp_path, url, collector, retries=2) as wrong:
            _skew(wrong, HOUR)
            await steps.plan_due_runs(wrong, _everybodys_turn)
            for _ in range(2):
                await shards.collect_shard(wrong, RUN, Stage.PROBE)
            assert len(collector.probed) == 30
            assert wrong.store.read_progress(RUN).done[Stage.COLLECT] == 29
            assert wrong.store.count_due_servers(RUN, wrong.clock.wall()) == {Stage.SCORE: 29}

    asyncio.run(main())
