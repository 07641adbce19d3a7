"""Between nights, remotes that are due are connected to once, and the next night counts it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import repeat
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.collectors.protocol.samples.sample_window import roll_sample_window
from evidence.kinds import samples
from evidence.kinds.samples import Sample, Samples
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, ServerRef, Target, TargetType, Trigger
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, ScriptedRegistry, ScriptedSampler, World, context, ref
from workers import pipeline
from workers.context import Context
from workers.nightly import steps
from workers.runs.options import RunOptions
from workers.stages import availability_samples
from workers.stages.availability_samples import SamplingResult

HOUR = timedelta(hours=1)
PACKAGE = replace(ref(99), targets=(Target(type=TargetType.NPM, identifier="notes"),), name="io.example/notes")


class Rolling:
    """A collector that only rolls samples."""

    name = "protocol"
    version = 1
    kinds = (samples.KIND,)

    def __init__(self, clock: SteppingClock) -> None:
        self.clock = clock
        self.broken = False

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        if self.broken:
            raise KeyError("a bug of ours")
        at = self.clock.now()
        known = earlier.records.get(samples.KIND)
        content, observation = roll_sample_window(known, Observed(b"{}"), at=at, cold_ms=9.0, warm_ms=None)
        return [
            Record(
                server=target.id,
                kind=samples.KIND,
                schema=samples.SCHEMA,
                collector=self.name,
                collector_version=self.version,
                observed_at=at,
                content=content,
                observation=observation,
            )
        ]


@dataclass
class Scene:
    """A store that has walked a registry and seen one night, at a clock that is moved by hand."""

    ctx: Context
    clock: SteppingClock
    rolling: Rolling
    sampler: ScriptedSampler


@asynccontextmanager
async def scene(
    home: Path, *refs: ServerRef, ends: Iterator[str | None] | None = None, **changes: object
) -> AsyncIterator[Scene]:
    """`ends` says how each light check ends, None for one that says nothing; by default all succeed."""
    clock = SteppingClock(NIGHT)
    following = ends or repeat("")

    def answer(_target: Target) -> Sample | None:
        failure = next(following)
        return None if failure is None else Sample(at=clock.now(), failure=failure)

    world = World([ScriptedRegistry("first", [refs])], [rolling := Rolling(clock)], ScriptedSampler(answer))
    opening: AbstractAsyncContextManager[Context] = context(home, world, registries=("first",), **changes)
    async with opening as ctx:
        ctx.clock = clock
        await night(ctx)
        assert isinstance(world.sampling, ScriptedSampler)
        yield Scene(ctx, clock, rolling, world.sampling)


async def night(ctx: Context) -> str:
    """One whole run; its id."""
    run = pipeline.start_run(
        ctx, Trigger.LOCAL, RunOptions(registries=("first",)), run_id=f"{ctx.clock.now():%Y%m%d%H}"
    )
    await pipeline.discover(ctx, run)
    await pipeline.collect(ctx, run, ctx.store.list_planned_servers(run.id))
    return run.id


def seen(ctx: Context, run_id: str) -> Samples:
    [dossier] = ctx.store.read_dossiers(run_id, ctx.store.list_planned_servers(run_id))
    content = dossier.read(samples.KIND)
    assert isinstance(content, Observed), content
    return Samples.parse(content.body)


def test_light_checks_are_counted_by_the_next_night_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, ref(1), ends=iter(["", "timeout"])) as at:
            for _ in range(2):
                at.clock.step(11 * HOUR)
                assert (await availability_samples.sample_due_servers(at.ctx)).taken == 1
            at.clock.step(2 * HOUR)
            assert seen(at.ctx, await night(at.ctx)) == Samples(
                window_days=30, samples=4, successes=3, failures={"timeout": 1}, days=2
            )
            at.clock.step(24 * HOUR)
            assert seen(at.ctx, await night(at.ctx)).samples == 5

    asyncio.run(main())


def test_a_bug_of_ours_does_not_cost_a_server_its_window(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, ref(1)) as at:
            at.rolling.broken = True
            at.clock.step(24 * HOUR)
            broken = await night(at.ctx)
            [dossier] = at.ctx.store.read_dossiers(broken, at.ctx.store.list_planned_servers(broken))
            assert dossier.read(samples.KIND) == Absent(Reason.COLLECTOR_ERROR, "KeyError")
            at.rolling.broken = False
            at.clock.step(24 * HOUR)
            assert seen(at.ctx, await night(at.ctx)).samples == 2

    asyncio.run(main())


def test_no_server_is_sampled_before_it_is_due_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, *map(ref, range(5))) as at:
            assert (await availability_samples.sample_due_servers(at.ctx)).due == 5
            at.clock.step(5 * HOUR)
            assert (await availability_samples.sample_due_servers(at.ctx)).due == 0
            at.clock.step(6 * HOUR)
            assert (await availability_samples.sample_due_servers(at.ctx)).due == 5
            assert len(at.sampler.visited) == 10

    asyncio.run(main())


def test_servers_come_due_at_different_hours(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, *map(ref, range(40))) as at:
            await availability_samples.sample_due_servers(at.ctx)
            at.clock.step(5 * HOUR)
            rounds = []
            for _ in range(5):
                at.clock.step(HOUR)
                rounds.append((await availability_samples.sample_due_servers(at.ctx)).due)
            assert sum(rounds) == 40
            assert max(rounds) < 20

    asyncio.run(main())


def test_a_visit_that_says_nothing_is_not_repeated_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, ref(1), ends=iter([None])) as at:
            assert await availability_samples.sample_due_servers(at.ctx) == SamplingResult(due=1, taken=0, failed=0)
            at.clock.step(HOUR)
            assert await availability_samples.sample_due_servers(at.ctx) == SamplingResult(due=0, taken=0, failed=0)

    asyncio.run(main())


def test_one_round_is_bounded_and_the_longest_unseen_come_first(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, *map(ref, range(6)), light_batch=4) as at:
            assert [(await availability_samples.sample_due_servers(at.ctx)).taken for _ in range(3)] == [4, 2, 0]
            assert len(set(at.sampler.visited)) == 6

    asyncio.run(main())


def test_a_server_is_well_when_any_of_its_remotes_opens(tmp_path: Path) -> None:
    two = replace(ref(1), targets=(*ref(1).targets, *ref(2).targets, *PACKAGE.targets))

    async def main() -> None:
        async with scene(tmp_path, two, ends=iter([samples.TIMEOUT, ""])) as at:
            assert await availability_samples.sample_due_servers(at.ctx) == SamplingResult(due=1, taken=1, failed=0)
            assert len(at.sampler.visited) == 2

    asyncio.run(main())


def test_packages_are_not_started_for_a_light_check(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, PACKAGE) as at:
            assert (await availability_samples.sample_due_servers(at.ctx)).due == 0

    asyncio.run(main())


def test_light_checks_can_be_switched_off(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path, ref(1), light_every=timedelta(0)) as at:
            assert await availability_samples.sample_due_servers(at.ctx) == SamplingResult(0, 0, 0)
            assert at.sampler.visited == []

    asyncio.run(main())


@pytest.mark.parametrize(("mine", "visits"), [(True, 1), (False, 0)])
def test_one_worker_at_a_time_takes_samples(tmp_path: Path, mine: bool, visits: int) -> None:
    @asynccontextmanager
    async def turn(name: str) -> AsyncIterator[bool]:
        assert name == "sample-availability"
        yield mine

    async def main() -> None:
        async with scene(tmp_path, ref(1)) as at:
            await steps.sample_availability(at.ctx, turn)
            assert len(at.sampler.visited) == visits

    asyncio.run(main())
