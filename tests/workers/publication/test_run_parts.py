"""A publication goes on after a kill with the parts that are left, and other workers take their share."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from evidence.model import Run, Trigger
from evidence.store import ListingQuery, RunEvent, RunState, Stage, Store, StoreUnavailable
from evidence.store.runs.publication_parts import PublicationPart, PublicationParts
from evidence.store.values import RunAction
from publish.publication import manifest, part_writer
from publish.publication.part_writer import PartWriter
from publish.views.public_servers import PublicServer
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import pipeline, schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.nightly import closing
from workers.publication import run_parts
from workers.runs.options import RunOptions

RUN = "20261121T030000Z-nightly"
SERVERS = 7
SHORT = timedelta(seconds=0.3)


class Killed(BaseException):
    """Ends a process in the middle."""


class Counting:
    """Queues without consumers."""

    def __init__(self) -> None:
        self.issued: Counter[str] = Counter()

    def issue(self, task: str, argument: str) -> None:
        assert argument == RUN
        self.issued[task] += 1

    def waiting(self, queue: str) -> int:
        return sum(count for task, count in self.issued.items() if schedule.TASK_QUEUES[task] == queue)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pipeline, part_writer):
        monkeypatch.setattr(module, "PART_SIZE", 2)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the parts that were written, in this order."""
    numbers: list[int] = []
    write = PartWriter.write

    def counted(self: PartWriter, part: PublicationPart) -> bool:
        numbers.append(part.number)
        return write(self, part)

    monkeypatch.setattr(PartWriter, "write", counted)
    return numbers


@asynccontextmanager
async def _scored(folder: Path, unscored: int = 0, **changes: object) -> AsyncIterator[Context]:
    """A night whose servers are scored, all or all but the first ones."""
    world = World([ScriptedRegistry("first", [[ref(number) for number in range(SERVERS)]])], [ScriptedCollector()])
    async with context(folder, world, **changes) as ctx:
        run = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)), run_id=RUN)
        await pipeline.discover(ctx, run)
        await pipeline.collect(ctx, run, ctx.store.list_planned_servers(RUN))
        await pipeline.score(ctx, run, ctx.store.list_planned_servers(RUN)[unscored:])
        yield ctx


def _check_published(ctx: Context) -> None:
    row = ctx.store.find_run(RUN)
    assert row is not None
    assert row.state is RunState.PUBLISHED
    assert ctx.store.listing.read_page(ListingQuery()).total == SERVERS
    assert ctx.store.publication.read_progress(RUN).parts == 0


@pytest.mark.parametrize("killed_at", [0, 2, 3])
def test_a_killed_publisher_goes_on_with_the_parts_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int], killed_at: int
) -> None:
    counted = PartWriter.write

    def dying(self: PartWriter, part: PublicationPart) -> bool:
        if part.number == killed_at:
            raise Killed
        return counted(self, part)

    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            monkeypatch.setattr(PartWriter, "write", dying)
            with pytest.raises(Killed):
                await closing.publish_run(ctx, RUN)
            assert written == list(range(killed_at))
            assert ctx.store.listing.read_page(ListingQuery()).total == 0
            monkeypatch.setattr(PartWriter, "write", counted)
            await closing.publish_run(ctx, RUN)
            assert written == [0, 1, 2, 3], "no part is written twice"
            _check_published(ctx)

    asyncio.run(main())


def test_a_publisher_that_dies_before_the_end_is_followed_by_one_that_writes_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    def dying(*_: object) -> bool:
        raise Killed

    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            with monkeypatch.context() as patch:
                patch.setattr("workers.publication.run_parts.publish_parts", dying)
                with pytest.raises(Killed):
                    await closing.publish_run(ctx, RUN)
            await closing.publish_run(ctx, RUN)
            assert written == [0, 1, 2, 3]
            _check_published(ctx)

    asyncio.run(main())


def test_a_task_whose_time_is_over_leaves_the_rest_to_the_next(tmp_path: Path, written: list[int]) -> None:
    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            over = Halt()
            await pipeline.begin_publication(ctx, ctx.store.list_runs()[0].run)
            over.set()
            await closing.publish_run(ctx, RUN, over)
            assert written == []
            await closing.publish_run(ctx, RUN)
            _check_published(ctx)

    asyncio.run(main())


def test_other_workers_are_asked_to_write_parts(tmp_path: Path, written: list[int]) -> None:
    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            queues, run = Counting(), ctx.store.list_runs()[0].run
            closing.share_parts(ctx, RUN, queues)
            assert queues.issued == {}, "nothing is begun"
            await pipeline.begin_publication(ctx, run)
            for _ in range(2):
                closing.share_parts(ctx, RUN, queues)
                assert queues.issued == {schedule.PUBLISH_PARTS: ctx.settings.shards}
            await closing.publish_parts(ctx, RUN, Halt())
            assert written == [0, 1, 2, 3]
            await closing.publish_run(ctx, RUN, queues=queues)
            assert written == [0, 1, 2, 3]
            _check_published(ctx)
            await closing.publish_parts(ctx, RUN, Halt())
            assert written == [0, 1, 2, 3], "a late task does nothing"

    asyncio.run(main())


def test_a_part_that_is_finished_while_others_are_joined_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = run_parts.join_parts

    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            run = ctx.store.list_runs()[0].run
            await pipeline.begin_publication(ctx, run)

            def joining(store: Store, run: Run) -> bytes:
                made = join(store, run)
                asyncio.run(run_parts.write_parts(ctx, run, Halt()))
                return made

            monkeypatch.setattr(run_parts, "join_parts", joining)
            assert not await asyncio.to_thread(run_parts.publish_parts, ctx, run, None)
            await closing.publish_run(ctx, RUN)
            _check_published(ctx)

    asyncio.run(main())


def test_a_publisher_waits_for_the_parts_that_another_one_writes(tmp_path: Path, written: list[int]) -> None:
    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            run = ctx.store.list_runs()[0].run
            await pipeline.begin_publication(ctx, run)
            other = ctx.store.publication.lease(RUN, ttl=ctx.settings.lease_ttl, now=ctx.clock.wall())
            assert other is not None
            publishing = asyncio.create_task(pipeline.publish(ctx, run))
            while len(written) < 3:
                await asyncio.sleep(0.01)
            assert not publishing.done()
            await asyncio.to_thread(PartWriter(ctx.store, run).write, other)
            await publishing
            assert sorted(written) == [0, 0, 1, 2, 3]
            _check_published(ctx)

    asyncio.run(main())


@pytest.mark.usefixtures("all_events")
def test_a_part_that_takes_longer_than_its_lease_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    write, renew, clock = PartWriter.write, PublicationParts.renew, SteppingClock(NIGHT)
    renewed, begun, slow = list[bool](), list[int](), threading.Event()
    failures = [RuntimeError("a bug"), StoreUnavailable("away")]

    def stepping(self: PublicationParts, part: PublicationPart, *, ttl: timedelta, now: datetime) -> bool:
        if part.number == 0 and failures:
            raise failures.pop()
        held = renew(self, part, ttl=ttl, now=now)
        if part.number == 0:
            renewed.append(held)
            clock.step(SHORT / 3)
        return held

    def slowly(self: PartWriter, part: PublicationPart) -> bool:
        begun.append(part.number)
        if begun.count(0) == 1 and part.number == 0:
            slow.wait(300)
        return write(self, part)

    async def main() -> None:
        async with _scored(tmp_path, lease_ttl=SHORT) as ctx:
            ctx.clock = clock
            await pipeline.begin_publication(ctx, ctx.store.list_runs()[0].run)
            monkeypatch.setattr(PublicationParts, "renew", stepping)
            monkeypatch.setattr(PartWriter, "write", slowly)
            first = asyncio.create_task(closing.publish_parts(ctx, RUN, Halt()))
            while not begun:
                await asyncio.sleep(0.01)
            while len(renewed) < 6 and all(renewed):  # twice as long as a lease lasts
                await closing.publish_parts(ctx, RUN, Halt())
                await asyncio.sleep(0.01)
            slow.set()
            await first
            assert all(renewed)
            assert sorted(written) == [0, 1, 2, 3]
            await closing.publish_run(ctx, RUN)
            _check_published(ctx)

    with capture_logs() as logs:
        asyncio.run(asyncio.wait_for(main(), 300))
    refused = [(line["error"], line["part"]) for line in logs if line["event"] == "leases_not_renewed"]
    assert refused == [("StoreUnavailable", 0), ("RuntimeError", 0)]


@pytest.mark.usefixtures("all_events")
def test_another_worker_writes_a_part_whose_thread_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    write, renew, clock = PartWriter.write, PublicationParts.renew, SteppingClock(NIGHT)
    begun, hanging = list[int](), threading.Event()

    def stepping(self: PublicationParts, part: PublicationPart, *, ttl: timedelta, now: datetime) -> bool:
        held = renew(self, part, ttl=ttl, now=now)
        if part.number == 0:
            clock.step(SHORT / 3)
        return held

    def hang(self: PartWriter, part: PublicationPart) -> bool:
        begun.append(part.number)
        if begun == [0]:
            hanging.wait(300)
        return write(self, part)

    async def main() -> None:
        async with _scored(tmp_path, lease_ttl=SHORT, shard_time=2 * SHORT) as ctx:
            ctx.clock = clock
            await pipeline.begin_publication(ctx, ctx.store.list_runs()[0].run)
            monkeypatch.setattr(PublicationParts, "renew", stepping)
            monkeypatch.setattr(PartWriter, "write", hang)
            first = asyncio.create_task(closing.publish_parts(ctx, RUN, Halt()))
            while not begun:
                await asyncio.sleep(0.01)
            while not any(line["event"] == "publication_part_hangs" for line in logs):
                await closing.publish_parts(ctx, RUN, Halt())
                assert 0 not in written
                await asyncio.sleep(0.01)
            clock.step(SHORT)
            await closing.publish_parts(ctx, RUN, Halt())
            assert sorted(written) == [0, 1, 2, 3]
            hanging.set()
            await first
            await closing.publish_run(ctx, RUN)
            _check_published(ctx)

    with capture_logs() as logs:
        asyncio.run(asyncio.wait_for(main(), 300))
    assert [line["part"] for line in logs if line["event"] == "results_of_lost_leases_refused"] == [0]


@pytest.mark.usefixtures("all_events")
def test_a_server_that_cannot_be_counted_is_named_and_holds_the_run_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(server: PublicServer, *_: object, **__: object) -> None:
        raise ZeroDivisionError(server.dossier.server.name)

    async def main() -> None:
        async with _scored(tmp_path) as ctx:
            with monkeypatch.context() as patch, capture_logs() as logs:
                patch.setattr("publish.publication.part_writer.count_server", count)
                with pytest.raises(ZeroDivisionError):
                    await closing.publish_run(ctx, RUN)
            [line] = [line for line in logs if line["event"] == "publication_part_failed"]
            assert (line["error"], line["server"], line["part"]) == (
                "ZeroDivisionError",
                ctx.store.list_planned_servers(RUN)[0],
                0,
            )
            assert ctx.store.find_run(RUN).state is RunState.PLANNED  # type: ignore[union-attr]
            await closing.publish_run(ctx, RUN)
            _check_published(ctx)

    asyncio.run(main())


def test_an_operator_who_cancels_ends_the_publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = PartWriter.write

    async def main() -> None:
        async with _scored(tmp_path) as ctx:

            def cancelled(self: PartWriter, part: PublicationPart) -> bool:
                if part.number == 1:
                    event = RunEvent(at=NIGHT, who="ana", what=RunAction.CANCELLED)
                    ctx.store.apply_run_action(RUN, event)
                return write(self, part)

            monkeypatch.setattr(PartWriter, "write", cancelled)
            await closing.publish_run(ctx, RUN)
            row = ctx.store.find_run(RUN)
            assert row is not None
            assert row.state is RunState.CANCELLED
            assert ctx.store.listing.find_newest_run() is None

    asyncio.run(main())


def test_an_operator_who_publishes_a_begun_publication_changes_nothing_of_the_run(tmp_path: Path) -> None:
    async def main() -> None:
        async with _scored(tmp_path, unscored=1) as ctx:
            run = ctx.store.list_runs()[0].run
            await pipeline.begin_publication(ctx, run, late=True)
            await closing.publish_parts(ctx, RUN, Halt())
            by = RunEvent(at=NIGHT, who="ana", what=RunAction.PUBLISHED, note="now")
            await closing.force_publish(ctx, ctx.store.list_runs()[0], by)
            assert ctx.store.read_progress(RUN).done[Stage.SCORE] == SERVERS - 1
            assert ctx.store.find_snapshot(RUN) == manifest.make_manifest(ctx.store, RUN)
            _check_published(ctx)

    asyncio.run(main())
