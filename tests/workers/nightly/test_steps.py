"""What the Celery tasks do, called as functions over a scripted world."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from evidence.model import Trigger
from evidence.store import RunState, Stage
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref, settings
from workers import pipeline, schedule
from workers.context import Context
from workers.coordination.leases import Leases
from workers.nightly import closing, shards, steps
from workers.runs import pins
from workers.runs.options import RunOptions
from workers.stages import scorecards

RUN = "20261121T030000Z-nightly"


class Counting:
    """Queues without consumers."""

    def __init__(self) -> None:
        self.issued: Counter[str] = Counter()

    def issue(self, task: str, argument: str) -> None:
        assert argument == RUN
        self.issued[task] += 1

    def waiting(self, queue: str) -> int:
        return sum(count for task, count in self.issued.items() if schedule.TASK_QUEUES[task] == queue)


class AllQueues:
    """Queues of all versions without consumers."""

    def __init__(self) -> None:
        self.issued: list[tuple[str, str, str]] = []

    def open(self, version: str) -> VersionQueues:
        return VersionQueues(self, version)


@dataclass
class VersionQueues:
    every: AllQueues
    version: str

    def issue(self, task: str, argument: str) -> None:
        self.every.issued.append((self.version, task, argument))

    def waiting(self, queue: str) -> int:
        tasks = [task for version, task, _ in self.every.issued if version == self.version]
        return sum(schedule.TASK_QUEUES[task] == queue for task in tasks)


@asynccontextmanager
async def _my_turn(_name: str) -> AsyncIterator[bool]:
    yield True


@asynccontextmanager
async def _not_my_turn(_name: str) -> AsyncIterator[bool]:
    yield False


def _world(count: int, collector: ScriptedCollector | None = None) -> World:
    refs = [ref(number) for number in range(count)]
    return World([ScriptedRegistry("first", [refs])], [collector or ScriptedCollector()])


def _context(home: Path, world: World, **changes: object):  # type: ignore[no-untyped-def]
    return context(home, world, registries=("first",), **changes)


def test_asking_twice_for_the_due_run_makes_one_run(tmp_path: Path) -> None:
    async def main() -> None:
        world = _world(3)
        async with _context(tmp_path, world) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            await steps.plan_due_runs(ctx, _my_turn)
            assert [row.run.id for row in ctx.store.list_runs()] == [RUN]
            (registry,) = world.known
            assert isinstance(registry, ScriptedRegistry)
            assert len(registry.asked) == 1

    asyncio.run(main())


def test_a_night_that_other_code_published_is_left_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(1)) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            ctx.pins = {**ctx.pins, "commit": "newer"}
            await steps.plan_due_runs(ctx, _my_turn)
            assert len(ctx.store.list_runs()) == 1

    asyncio.run(main())


def test_a_run_that_another_worker_plans_is_left_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(3)) as ctx:
            await steps.plan_due_runs(ctx, _not_my_turn)
            assert ctx.store.list_runs() == []

    asyncio.run(main())


def test_sweeps_issue_probes_then_scores_then_publication(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(9), lease_chunk=4, shards=2) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            assert await _swept(ctx) == {schedule.PROBE_SHARD: 2}
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert await _swept(ctx) == {schedule.SCORE_SHARD: 2}
            await shards.score_shard(ctx, RUN)
            assert await _swept(ctx) == {schedule.PUBLISH_RUN: 1}
            await closing.publish_run(ctx, RUN)
            assert await _swept(ctx) == {}
            row = ctx.store.find_run(RUN)
            assert row is not None
            assert row.state is RunState.PUBLISHED

    asyncio.run(main())


def test_sweeping_again_does_not_pile_up_tasks(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(9), lease_chunk=1, shards=3) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            queues = Counting()
            for _ in range(5):
                await steps.issue_due_tasks(ctx, lambda _: queues, forward=True)
            assert queues.issued == {schedule.PROBE_SHARD: 3}

    asyncio.run(main())


def test_only_nightly_runs_of_this_code_are_swept(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(2)) as ctx:
            local = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)))
            await pipeline.discover(ctx, local)
            assert await _swept(ctx) == {}
            await steps.plan_due_runs(ctx, _my_turn)
            ctx.pins = {**ctx.pins, "commit": "newer"}
            queues = AllQueues()
            await steps.issue_due_tasks(ctx, queues.open, forward=False)
            assert queues.issued == []

    asyncio.run(main())


@pytest.mark.usefixtures("all_events")
def test_a_sweep_asks_the_workers_of_each_other_version_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(2)) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            ctx.store.add_run(replace(ctx.store.list_runs()[0].run, id="20261121T040000Z"))
            older = pins.digest_pins(ctx.pins)
            ctx.pins = {**ctx.pins, "commit": "newer"}
            queues = AllQueues()
            with capture_logs() as logs:
                await steps.issue_due_tasks(ctx, queues.open, forward=True)
            assert (queues.issued, logs) == ([(older, schedule.SWEEP, older)], [])
            with capture_logs() as logs:
                await steps.issue_due_tasks(ctx, queues.open, forward=True)
            assert queues.issued == [(older, schedule.SWEEP, older)]
            assert [line["event"] for line in logs] == ["run_of_other_version_waits"]

    asyncio.run(main())


def test_a_run_that_an_older_version_began_is_planned_by_that_version_after_an_upgrade_of_beat(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(2)) as ctx:
            began = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)))
            mine, queues = ctx.pins, AllQueues()
            ctx.pins = {**mine, "commit": "newer"}
            await steps.forward_planning(ctx, queues.open)
            await steps.forward_planning(ctx, queues.open)
            assert queues.issued == [(pins.digest_pins(mine), schedule.PLAN_RUN, began.id)]
            ctx.pins = mine
            await steps.plan_due_runs(ctx, _my_turn, only_known=True)
            assert [(row.run.id, row.state) for row in ctx.store.list_runs()] == [(began.id, RunState.PLANNED)]
            await steps.forward_planning(ctx, queues.open)
            assert len(queues.issued) == 1

    asyncio.run(main())


@pytest.mark.usefixtures("all_events")
def test_a_night_that_is_planned_beside_another_one_is_logged(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(2)) as ctx:
            by_hand = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)))
            with capture_logs() as logs:
                await steps.plan_due_runs(ctx, _my_turn)
                await steps.plan_due_runs(ctx, _my_turn)
            overlaps = [(line["run"], line["other"]) for line in logs if line["event"] == "nights_overlap"]
            assert overlaps == [(RUN, by_hand.id)]

    asyncio.run(main())


def test_any_number_of_re_tests_keeps_no_night_from_being_swept(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(2)) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            for number in range(40):
                run_id = f"2026112{2 + number % 2}T0000{number:02}Z-again"
                pipeline.start_run(ctx, Trigger.RETEST, RunOptions(registries=("first",)), run_id=run_id)
            assert await _swept(ctx) == {schedule.PROBE_SHARD: 1}

    asyncio.run(main())


def test_two_shards_share_the_servers(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector(delay=0.001)
        async with _context(tmp_path, _world(20, collector), lease_chunk=3, in_flight=2) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            await asyncio.gather(
                shards.collect_shard(ctx, RUN, Stage.PROBE), shards.collect_shard(ctx, RUN, Stage.PROBE)
            )
            assert sorted(collector.probed) == sorted(set(collector.probed))
            assert ctx.store.read_progress(RUN).done[Stage.COLLECT] == 20

    asyncio.run(main())


def test_a_dead_workers_servers_are_taken_over_when_its_lease_ends(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(4)) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await steps.plan_due_runs(ctx, _my_turn)
            dead = Leases(ctx, RUN, Stage.PROBE)
            assert len(await dead.pull()) == 4
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert ctx.store.read_progress(RUN).done[Stage.COLLECT] == 0
            clock.step(ctx.settings.lease_ttl)
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert ctx.store.read_progress(RUN).done[Stage.COLLECT] == 4

    asyncio.run(main())


def test_a_shard_whose_time_is_over_leaves_the_rest_free(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(4), lease_chunk=1) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await steps.plan_due_runs(ctx, _my_turn)
            leases = Leases(ctx, RUN, Stage.PROBE)
            assert len(await leases.pull()) == 1
            clock.step(ctx.settings.shard_time + timedelta(seconds=1))
            assert await leases.pull() == ()
            await leases.release()
            assert len(await Leases(ctx, RUN, Stage.PROBE).pull()) == 1

    asyncio.run(main())


def test_a_worker_that_is_stopping_gives_its_servers_back(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector(delay=0.2)  # the task asks every second whether it is to stop
        world = _world(50, collector)
        async with _context(tmp_path, world, in_flight=1, write_batch=1, stop_grace=5.0) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            await shards.collect_shard(ctx, RUN, Stage.PROBE, lambda: len(collector.probed) > 3)
            collector.delay = 0.0
            done = ctx.store.read_progress(RUN).done[Stage.COLLECT]
            assert 3 < done < 50
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert ctx.store.read_progress(RUN).done[Stage.COLLECT] == 50
            assert len(collector.probed) == 50

    asyncio.run(main())


def test_an_unscorable_server_is_tried_again_and_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_one = scorecards.score_dossier

    def raising(dossier, *rubrics):  # type: ignore[no-untyped-def]
        if dossier.server.name.endswith("-1"):
            raise ZeroDivisionError
        return score_one(dossier, *rubrics)

    async def main() -> None:
        async with _context(tmp_path, _world(100)) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            monkeypatch.setattr(scorecards, "score_dossier", raising)
            assert await _swept(ctx) == {schedule.SCORE_SHARD: 1}
            for _ in range(3):
                await shards.score_shard(ctx, RUN)
            assert await _swept(ctx) == {schedule.PUBLISH_RUN: 1}
            monkeypatch.undo()
            await closing.publish_run(ctx, RUN)
            assert ctx.store.read_progress(RUN).done[Stage.SCORE] == 100

    asyncio.run(main())


def test_a_run_past_its_deadline_is_published_with_parts_missing(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(4)) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await steps.plan_due_runs(ctx, _my_turn)
            run = ctx.store.list_runs()[0].run
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(RUN, Stage.COLLECT)[:2])
            clock.step(ctx.settings.run_deadline + timedelta(seconds=1))
            assert await _swept(ctx) == {schedule.PUBLISH_RUN: 1}
            await closing.publish_run(ctx, RUN)
            assert b'"scored": 2' in (ctx.store.find_snapshot(RUN) or b"")

    asyncio.run(main())


def test_a_run_past_its_deadline_with_nothing_scored_is_abandoned(tmp_path: Path) -> None:
    async def main() -> None:
        async with _context(tmp_path, _world(4)) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await steps.plan_due_runs(ctx, _my_turn)
            clock.step(ctx.settings.run_deadline + timedelta(seconds=1))
            await closing.publish_run(ctx, RUN)
            assert await _swept(ctx) == {}
            row = ctx.store.find_run(RUN)
            assert row is not None
            assert row.state is RunState.ABANDONED

    asyncio.run(main())


@pytest.mark.parametrize(
    ("now", "slot"),
    [
        (datetime(2026, 11, 21, 2, 59, tzinfo=UTC), datetime(2026, 11, 20, 3, tzinfo=UTC)),
        (datetime(2026, 11, 21, 3, 0, tzinfo=UTC), datetime(2026, 11, 21, 3, tzinfo=UTC)),
        (datetime(2026, 11, 21, 23, 59, tzinfo=UTC), datetime(2026, 11, 21, 3, tzinfo=UTC)),
    ],
)
def test_the_due_slot_is_the_last_one_that_has_come(tmp_path: Path, now: datetime, slot: datetime) -> None:
    assert schedule.find_due_slot(settings(tmp_path), now) == slot


def test_every_task_has_a_queue_that_is_declared() -> None:
    assert set(schedule.TASK_QUEUES.values()) <= set(schedule.QUEUES)


async def _swept(ctx: Context) -> dict[str, int]:
    queues = Counting()
    await steps.issue_due_tasks(ctx, lambda _: queues, forward=True)
    return dict(queues.issued)
