"""A passing failure is probed again later in the same run, and only then recorded for the server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from crawler.collectors.protocol.samples import sample_window as sampling
from evidence.kinds import listing, samples
from evidence.kinds.samples import Sample, read_samples
from evidence.model import Absent, Dossier, Observed, Reason, Record, Run, Server, ServerId, Trigger
from evidence.store import RunRow, RunState, Stage
from tests.sampling import some
from tests.stepping_clock import SteppingClock
from tests.workers.world import LISTING, NIGHT, ScriptedFollower, ScriptedRegistry, World, context, ref, settings
from workers import embedded, pipeline
from workers.concurrency import Halt
from workers.context import Context
from workers.nightly import absent_servers, closing, steps
from workers.runs.options import RunOptions
from workers.stages.retries import TRANSIENT_REASONS, TRIES_KEY, RetryPolicy
from workers.stages.server_collection import CollectedServer

RUN = "20261121T030000Z-nightly"
MINUTE = timedelta(minutes=1)
FIRST = RunOptions(registries=("first",))

Answer = Callable[[int], Observed | Absent]


@dataclass
class Patient:
    """Answers `listing` and `samples` of each server with what `answer` makes of the number of the try."""

    answers: Mapping[str, Answer]
    clock: SteppingClock
    name: str = "protocol"
    version: int = 1
    kinds: tuple[str, ...] = (listing.KIND, samples.KIND)
    tries: Counter[str] = field(default_factory=Counter)

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        self.tries[target.name] += 1
        answer = self.answers.get(target.name, lambda _: Observed(LISTING))
        outcome, at = answer(self.tries[target.name]), self.clock.now()
        known = earlier.records.get(samples.KIND)
        sampled, note = sampling.roll_sample_window(known, outcome, at=at, cold_ms=None, warm_ms=None)
        return [
            Record(
                server=target.id,
                kind=kind,
                schema=1,
                collector=self.name,
                collector_version=1,
                observed_at=at,
                content=content,
                observation=observation,
            )
            for kind, content, observation in ((listing.KIND, outcome, {}), (samples.KIND, sampled, note))
        ]


def _never(reason: Reason) -> Answer:
    return lambda _: Absent(reason, "so it was")


def _at_last(tries: int, reason: Reason = Reason.TIMEOUT) -> Answer:
    return lambda number: Observed(LISTING) if number >= tries else Absent(reason)


def _name(number: int) -> str:
    return f"io.example/server-{number}"


@dataclass
class Night:
    """A night whose time a test lets pass."""

    ctx: Context
    clock: SteppingClock
    patient: Patient

    async def plan(self, trigger: Trigger = Trigger.NIGHTLY) -> Run:
        run = pipeline.start_run(self.ctx, trigger, FIRST, run_id=RUN)
        await pipeline.discover(self.ctx, run)
        return run

    async def collect(self, run: Run) -> None:
        """As a shard does: what can be leased."""
        ttl, now = timedelta(minutes=3), self.clock.wall()
        ids = list(self.ctx.store.lease_servers(run.id, Stage.PROBE, "w", limit=99, ttl=ttl, now=now))
        await pipeline.collect_pulled(self.ctx, run, pipeline.pull_once(ids), stage=Stage.PROBE)

    def listing(self, number: int) -> Record:
        return self._records(number)[listing.KIND]

    def samples(self, number: int) -> tuple[Sample, ...]:
        return read_samples(self._records(number)[samples.KIND].observation)

    def _records(self, number: int) -> Mapping[str, Record]:
        (server,) = self.ctx.store.search_servers(_name(number))
        (dossier,) = self.ctx.store.read_dossiers(RUN, [server.id])
        return dossier.records


def _night(
    home: Path, answers: Mapping[str, Answer], count: int = 3, **changes: object
) -> tuple[AbstractAsyncContextManager[Context], SteppingClock, Patient]:
    clock = SteppingClock(NIGHT)
    patient = Patient(answers, clock)
    world = World([ScriptedRegistry("first", [[ref(number) for number in range(count)]])], [patient])
    chosen = {"registries": ("first",), "retries": 2, "retry_after": 20 * MINUTE} | changes
    return context(home, world, **chosen), clock, patient


def _over(home: Path, answers: Mapping[str, Answer], **changes: object):  # type: ignore[no-untyped-def]
    opening, clock, patient = _night(home, answers, **changes)

    class Opened:
        async def __aenter__(self) -> Night:
            ctx = await opening.__aenter__()
            ctx.clock = clock
            return Night(ctx, clock, patient)

        async def __aexit__(self, *error: object) -> None:
            await opening.__aexit__(*error)  # type: ignore[arg-type]

    return Opened()


def test_a_server_that_answers_at_the_second_try_was_never_broken(tmp_path: Path) -> None:
    async def main() -> None:
        async with _over(tmp_path, {_name(0): _at_last(2)}) as night:
            run = await night.plan()
            await night.collect(run)
            assert night.ctx.store.read_progress(RUN).done[Stage.COLLECT] == 2, "the others are collected"
            assert night.ctx.store.count_due_servers(RUN, night.clock.wall()) == {Stage.SCORE: 2}, (
                "and are scored meanwhile"
            )
            night.clock.step(14 * MINUTE)
            await night.collect(run)
            assert night.patient.tries[_name(0)] == 1, "not before its time"
            night.clock.step(12 * MINUTE)
            await night.collect(run)
            record = night.listing(0)
            assert record.content == Observed(LISTING)
            assert record.observation[TRIES_KEY] == 2
            assert TRIES_KEY not in night.listing(1).observation
            assert night.ctx.store.read_progress(RUN).done[Stage.COLLECT] == 3

    asyncio.run(main())


@pytest.mark.parametrize("reason", some(sorted(TRANSIENT_REASONS - {Reason.COLLECTOR_ERROR}), 3))
def test_after_three_tries_the_last_failure_is_what_the_night_says(tmp_path: Path, reason: Reason) -> None:
    async def main() -> None:
        async with _over(tmp_path, {_name(0): _never(reason)}) as night:
            run = await night.plan()
            for _ in range(5):
                await night.collect(run)
                night.clock.step(26 * MINUTE)
            assert night.patient.tries[_name(0)] == 3
            record = night.listing(0)
            assert record.content == Absent(reason, "so it was")
            assert record.observation[TRIES_KEY] == 3

    asyncio.run(main())


@pytest.mark.parametrize("reason", some(sorted(set(Reason) - TRANSIENT_REASONS), 6))
def test_what_does_not_pass_is_said_at_once(tmp_path: Path, reason: Reason) -> None:
    async def main() -> None:
        async with _over(tmp_path, {_name(0): _never(reason)}) as night:
            await night.collect(await night.plan())
            assert night.listing(0).content == Absent(reason, "so it was")

    asyncio.run(main())


def test_every_try_is_a_sample_of_the_servers_stability(tmp_path: Path) -> None:
    async def main() -> None:
        async with _over(tmp_path, {_name(0): _at_last(3)}) as night:
            local = pipeline.start_run(night.ctx, Trigger.LOCAL, FIRST, run_id="20261120-1")
            await pipeline.discover(night.ctx, local)
            await pipeline.collect(night.ctx, local, night.ctx.store.list_planned_servers(local.id))
            night.patient.tries.clear()
            night.clock.step(24 * 60 * MINUTE)
            run = await night.plan()
            for _ in range(3):
                await night.collect(run)
                night.clock.step(26 * MINUTE)
            assert [sample.failure for sample in night.samples(0)] == ["timeout", "timeout", "timeout", ""]
            assert [sample.failure for sample in night.samples(1)] == ["", ""]

    asyncio.run(main())


def test_a_collector_that_breaks_is_asked_again_too(tmp_path: Path) -> None:
    def answer(number: int) -> Observed | Absent:
        if number == 1:
            raise ZeroDivisionError
        return Observed(LISTING)

    async def main() -> None:
        async with _over(tmp_path, {_name(0): answer}) as night:
            run = await night.plan()
            await night.collect(run)
            night.clock.step(26 * MINUTE)
            await night.collect(run)
            assert night.listing(0).content == Observed(LISTING)

    asyncio.run(main())


def test_no_server_is_probed_again_after_the_deadline(tmp_path: Path) -> None:
    async def main() -> None:
        answers = {_name(0): _never(Reason.TIMEOUT)}
        async with _over(tmp_path, answers, run_deadline=30 * MINUTE) as night:
            run = await night.plan()
            await night.collect(run)
            night.clock.step(26 * MINUTE)
            await night.collect(run)
            assert night.patient.tries[_name(0)] == 2
            assert night.listing(0).content == Absent(Reason.TIMEOUT, "so it was")

    asyncio.run(main())


def test_a_night_that_ends_before_the_next_try_says_what_it_saw(tmp_path: Path) -> None:
    async def main() -> None:
        answers = {_name(0): _never(Reason.UNREACHABLE)}
        async with _over(tmp_path, answers, count=100, tail_wait=timedelta(0)) as night:
            run = await night.plan()
            await night.collect(run)
            await night.collect(run)
            await night.collect(run)
            await pipeline.score(night.ctx, run, night.ctx.store.list_planned_servers(RUN))
            night.clock.step(MINUTE)
            row = night.ctx.store.find_run(RUN)
            assert row is not None
            assert closing.is_closing_due(night.ctx, row)
            await closing.publish_run(night.ctx, RUN)
            after = night.ctx.store.find_run(RUN)
            assert after is not None
            assert after.state is RunState.PUBLISHED
            assert night.listing(0).content == Absent(
                Reason.UNREACHABLE, "the night ended before it was measured again"
            )
            assert night.ctx.store.read_progress(RUN).done == {Stage.COLLECT: 100, Stage.SCORE: 100, Stage.PROBE: 100}

    asyncio.run(main())


def test_what_is_known_of_a_project_stands_when_the_night_ends_too_early(tmp_path: Path) -> None:
    follower = ScriptedFollower("repository", lambda _: Observed(b"{}"), observation={"looked_at": NIGHT.isoformat()})

    async def main() -> None:
        patient = {_name(0): lambda number: Observed(LISTING) if number == 1 else Absent(Reason.TIMEOUT)}
        opening, clock, collector = _night(tmp_path, patient)
        async with opening as ctx:
            ctx.clock = clock
            ctx.wiring.following = [follower]  # type: ignore[attr-defined]
            night = Night(ctx, clock, collector)
            local = pipeline.start_run(ctx, Trigger.LOCAL, FIRST, run_id="20261120-1")
            await pipeline.discover(ctx, local)
            await pipeline.collect(ctx, local, ctx.store.list_planned_servers(local.id))
            clock.step(timedelta(days=1))
            run = await night.plan()
            await night.collect(run)
            await absent_servers.record_pending_retries(ctx, run, Halt())
            (server,) = ctx.store.search_servers(_name(0))
            (dossier,) = ctx.store.read_dossiers(RUN, [server.id])
            assert dossier.read("repository") == Observed(b"{}")
            assert dossier.read(listing.KIND) == Absent(Reason.TIMEOUT, "the night ended before it was measured again")
            assert isinstance(dossier.read("drift"), Observed)

    asyncio.run(main())


def test_waiting_servers_are_recorded_a_few_at_a_time_until_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_collected, halt, stored = pipeline.store_collected, Halt(), list[int]()

    async def storing(ctx: Context, run: Run, stage: Stage, collected: Sequence[CollectedServer]) -> frozenset[str]:
        stored.append(len(collected))
        halt.set()
        return await store_collected(ctx, run, stage, collected)

    async def main() -> None:
        answers = {_name(number): _never(Reason.TIMEOUT) for number in range(5)}
        async with _over(tmp_path, answers, count=5) as night:
            run = await night.plan()
            await night.collect(run)
            monkeypatch.setattr(pipeline, "SERVERS_PER_CHUNK", 2)
            monkeypatch.setattr(pipeline, "store_collected", storing)
            await absent_servers.record_pending_retries(night.ctx, run, halt)
            assert stored == [2]
            await absent_servers.record_pending_retries(night.ctx, run, Halt())
            assert stored == [2, 2, 1]
            assert night.ctx.store.read_progress(RUN).done[Stage.COLLECT] == 5

    asyncio.run(main())


def test_nothing_is_recorded_of_waiting_servers_once_the_publication_has_begun(tmp_path: Path) -> None:
    async def main() -> None:
        opening, clock, collector = _night(tmp_path, {_name(0): _never(Reason.TIMEOUT)})
        async with opening as ctx:
            ctx.clock = clock
            night = Night(ctx, clock, collector)
            run = await night.plan()
            await night.collect(run)
            ctx.store.publication.begin(RUN, 100, clock.wall())
            await absent_servers.record_pending_retries(ctx, run, Halt())
            (server,) = ctx.store.search_servers(_name(0))
            (dossier,) = ctx.store.read_dossiers(RUN, [server.id])
            assert listing.KIND not in dossier.records

    asyncio.run(main())


def test_a_run_by_hand_looks_once_more_when_it_is_asked_to(tmp_path: Path) -> None:
    async def main(pause: timedelta, expected: int, name: str) -> None:
        answers = {_name(0): _at_last(2), _name(1): _never(Reason.TIMEOUT)}
        opening, clock, patient = _night(tmp_path / name, answers, local_retry_after=pause)
        async with opening as ctx:
            patient.clock = clock
            result = await embedded.run_embedded(ctx, FIRST)
            assert result.ok
            assert (patient.tries[_name(0)], patient.tries[_name(1)]) == (expected, expected)
            assert dict(result.absent) == {"timeout": 3 - expected}

    asyncio.run(main(timedelta(0), 1, "never"))
    asyncio.run(main(timedelta(milliseconds=10), 2, "once"))


def test_a_re_test_does_not_wait(tmp_path: Path) -> None:
    row = RunRow(
        run=Run(id=RUN, trigger=Trigger.RETEST, as_of=NIGHT, pins={}), state=RunState.PLANNED, planned_at=NIGHT
    )
    assert RetryPolicy.for_run(row, settings(tmp_path, retries=5)).max_tries == 0


def test_those_that_failed_together_do_not_come_back_together() -> None:
    policy = RetryPolicy(2, 20 * MINUTE)
    delays = [policy.delay([ServerId(str(number))], NIGHT) for number in range(200)]
    assert all(delay is not None and 15 * MINUTE <= delay <= 25 * MINUTE for delay in delays)
    assert len(set(delays)) > 100


def test_sweeps_issue_no_probe_for_servers_whose_time_has_not_come(tmp_path: Path) -> None:
    issued: list[str] = []

    class Queues:
        def issue(self, task: str, run_id: str) -> None:
            issued.append(task)

        def waiting(self, queue: str) -> int:
            return 0

    async def main() -> None:
        async with _over(tmp_path, {_name(0): _never(Reason.TIMEOUT)}) as night:
            run = await night.plan()
            await night.collect(run)
            await pipeline.score(night.ctx, run, night.ctx.store.list_planned_servers(RUN))
            await steps.issue_due_tasks(night.ctx, lambda _: Queues(), forward=True)
            assert issued == []
            night.clock.step(26 * MINUTE)
            await steps.issue_due_tasks(night.ctx, lambda _: Queues(), forward=True)
            assert issued == ["hallmark.probe_shard"]

    asyncio.run(main())
