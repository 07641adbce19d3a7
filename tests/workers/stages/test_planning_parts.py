"""A plan is made in parts: stopped, killed and made by two processes, it equals the plan that is made at once."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from crawler.identity import merge_references
from evidence.model import Run, Server, ServerRef, Trigger
from evidence.store import RunAction, RunEvent, RunState, Stage, StoreUnavailable
from evidence.store.database import Database
from evidence.store.tables.core import RUN_ITEM, SERVER
from tests.sampling import some
from tests.servers import preloaded
from tests.servers.postgres import PostgresServer
from tests.stepping_clock import SteppingClock
from tests.workers.stages.crowded_registry import FIRST, SHARE, at_host, make_context, make_references
from tests.workers.world import NIGHT
from workers import pipeline, schedule
from workers.context import Context
from workers.nightly import steps
from workers.runs.options import RunOptions
from workers.stages import planning, routing
from workers.stages.host_schedule import schedule_servers

PART = 3
NAME = "20261121T030000Z-nightly"

Items = Sequence[tuple[Any, ...]]

_PLAN = """
import asyncio, sys
from pathlib import Path
from evidence.model import Trigger
from tests.workers.stages.crowded_registry import FIRST, make_context
from workers import pipeline
from workers.stages import planning

planning.SERVERS_PER_PART = 3
plan_part = planning.Planner.plan_part

def told(planner):
    more = plan_part(planner)
    print("part", flush=True)
    return more

planning.Planner.plan_part = told

async def main():
    async with make_context(Path(sys.argv[1]), sys.argv[2]) as ctx:
        await pipeline.discover(ctx, pipeline.start_run(ctx, Trigger.NIGHTLY, FIRST, run_id=sys.argv[3]))

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    sqlite_template: Path,
    session_postgres: PostgresServer,
    session_postgres_template: str,
) -> Iterator[str]:
    """An empty, migrated database."""
    if request.param == "postgresql":
        with session_postgres.lent_database(session_postgres_template) as lent:
            yield lent
    else:
        yield f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'parts.db')}"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SERVERS_PER_PART", PART)


def _start(ctx: Context, trigger: Trigger = Trigger.NIGHTLY, options: RunOptions = FIRST) -> Run:
    return pipeline.start_run(ctx, trigger, options, run_id=NAME)


def _items(url: str, began: datetime | None = None) -> Items:
    """The items of all runs; those that begin at a time with the time since the planning began."""
    database = Database(url)
    columns = (RUN_ITEM.c.stage, RUN_ITEM.c.carried, RUN_ITEM.c.not_before, RUN_ITEM.c.done_at)
    query = select(SERVER.c.id, *columns).join(SERVER, SERVER.c.key == RUN_ITEM.c.server_key)
    with database.reading() as connection:
        rows = connection.execute(query.order_by(SERVER.c.id, RUN_ITEM.c.stage)).all()
    database.close()
    began = began or min((row.not_before for row in rows if NIGHT.year <= row.not_before.year < 9999), default=NIGHT)
    return [(row.id, row.stage, row.carried, _since(row.not_before, began), row.done_at is not None) for row in rows]


def _since(at: datetime, began: datetime) -> datetime | timedelta:
    """To a millisecond, because two plans begin at different microseconds."""
    is_fixed = at.year in {1970, 9999}
    return at if is_fixed else timedelta(milliseconds=round((at - began).total_seconds() * 1000))


async def _plan_at_once(home: Path, url: str) -> None:
    """As it is written without parts: one schedule, one transaction."""
    async with make_context(home, url) as ctx:
        run = _start(ctx)
        page = [(_server(one), one) for one in make_references()]
        ctx.store.put_registry_page(run.id, "first", page, cursor=None, done=True, at=NIGHT)
        servers = ctx.store.list_active_servers()
        laid = schedule_servers(run.id, servers, lambda _: {}, planning.read_host_pace(ctx.settings))
        at = ctx.store.read_database_time(NIGHT)
        ctx.store.plan_run(
            run.id,
            [server.id for server in servers],
            at,
            first={server.id: routing.first_stage(server) for server in servers},
            starts={server: at + offset for server, offset in laid.offsets.items()},
            carried=laid.carried,
        )


def _server(one: ServerRef) -> Server:
    return merge_references([one])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Items:
    """The plan of one go."""
    folder = tmp_path_factory.mktemp("whole")
    url = f"sqlite:///{folder}/whole.db"
    asyncio.run(_plan_at_once(folder, url))
    return _items(url)


@pytest.mark.usefixtures("small_parts")
def test_a_plan_in_parts_equals_the_plan_of_one_go(tmp_path: Path, url: str, whole: Items) -> None:
    async def main() -> None:
        async with make_context(tmp_path, url) as ctx:
            run = _start(ctx)
            await pipeline.discover(ctx, run)
            progress = ctx.store.read_progress(run.id)
            assert (progress.planned, progress.carried) == (len(make_references()), 11 - SHARE)
            row = ctx.store.find_run(run.id)
            assert row is not None
            assert row.state is RunState.PLANNED
            assert row.plan_position is not None
            assert (row.plan_position.planned, row.plan_position.carried) == (len(make_references()), 11 - SHARE)

    asyncio.run(main())
    assert _items(url) == whole


@pytest.mark.parametrize("parts", some(range(1, 12), 4))
def test_a_planner_that_is_killed_anywhere_is_continued_without_loss(
    tmp_path: Path, url: str, whole: Items, parts: int, small_parts: None
) -> None:
    arguments = [sys.executable, "-c", _PLAN, str(tmp_path), url, NAME]
    with preloaded.Popen(arguments, stdout=subprocess.PIPE, text=True) as planner:
        assert planner.stdout is not None
        assert planner.stdout.readline(), "planning has begun"
        for _ in range(parts - 1):
            planner.stdout.readline()
        planner.kill()
    asked: list[object] = []

    async def main() -> None:
        async with make_context(tmp_path, url) as ctx:
            await pipeline.discover(ctx, _start(ctx))
            (registry,) = await ctx.wiring.registries(("first",))
            asked.extend(registry.asked)  # type: ignore[attr-defined]

    asyncio.run(main())
    assert asked == [], "a registry is not walked again in the middle of a plan"
    assert _items(url) == whole


@pytest.mark.usefixtures("small_parts")
def test_two_planners_at_once_plan_each_server_once(tmp_path: Path, url: str, whole: Items) -> None:
    async def walk() -> Run:
        async with make_context(tmp_path, url) as ctx:
            run = _start(ctx)
            page = [(_server(one), one) for one in make_references()]
            ctx.store.put_registry_page(run.id, "first", page, cursor=None, done=True, at=NIGHT)
            return run

    run = asyncio.run(walk())
    barrier = threading.Barrier(2)

    def plan() -> None:
        async def main() -> None:
            async with make_context(tmp_path, url) as ctx:
                planner = planning.Planner(ctx, run, FIRST, ["first"])
                barrier.wait(60)
                while planner.plan_part():
                    pass

        asyncio.run(main())

    threads = [threading.Thread(target=plan) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _items(url) == whole


@pytest.mark.usefixtures("small_parts")
def test_a_part_that_fails_changes_nothing(
    tmp_path: Path, url: str, whole: Items, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with make_context(tmp_path, url) as ctx:
            run = _start(ctx)
            with monkeypatch.context() as broken:
                broken.setattr("evidence.store.host_schedule.put_records", _fail)
                with pytest.raises(StoreUnavailable):
                    await pipeline.discover(ctx, run)
            before, row = ctx.store.read_progress(run.id), ctx.store.find_run(run.id)
            assert row is not None
            assert row.plan_position is not None
            assert 0 < before.planned == row.plan_position.planned < len(make_references())
            assert before.carried == 0, "the first part with a server that is not due failed"
            await pipeline.discover(ctx, run)

    asyncio.run(main())
    assert _items(url) == whole


def _fail(*_: object, **__: object) -> None:
    raise StoreUnavailable("the database went away")


@pytest.mark.usefixtures("small_parts")
def test_a_run_that_is_stopped_in_the_middle_is_planned_when_it_goes_on(tmp_path: Path, url: str, whole: Items) -> None:
    async def main() -> None:
        async with make_context(tmp_path, url) as ctx:
            run = _start(ctx)
            await pipeline.discover(ctx, run, halt=_HaltAfter(4))
            part = ctx.store.read_progress(run.id).planned
            for what in (RunAction.PAUSED, RunAction.RESUMED):
                ctx.store.apply_run_action(run.id, RunEvent(at=NIGHT, who="a", what=what))
                await pipeline.discover(ctx, run, halt=_HaltAfter(0))
                assert ctx.store.read_progress(run.id).planned == part
            await pipeline.discover(ctx, run)

    asyncio.run(main())
    assert _items(url) == whole


class _HaltAfter(asyncio.Event):
    """Set after it was read so often."""

    def __init__(self, reads: int) -> None:
        super().__init__()
        self._left = reads

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


@pytest.mark.usefixtures("small_parts")
def test_servers_that_opted_out_are_planned_and_take_no_place_of_a_crowded_host(tmp_path: Path, url: str) -> None:
    async def main() -> None:
        opted = tmp_path / "opt-outs"
        opted.write_text("\n".join(f"server: {_server(at_host('crowded.example', number)).id}" for number in range(9)))
        async with make_context(tmp_path, url, opt_outs=opted) as ctx:
            run = _start(ctx)
            await pipeline.discover(ctx, run)
            progress = ctx.store.read_progress(run.id)
            assert (progress.planned, progress.carried) == (len(make_references()), 0)
            assert len(ctx.store.list_pending_servers(run.id, Stage.PROBE)) == len(make_references()) - 8

    asyncio.run(main())


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("trigger", [Trigger.NIGHTLY, Trigger.LOCAL])
def test_parts_keep_to_the_options(tmp_path: Path, url: str, trigger: Trigger) -> None:
    async def main() -> None:
        async with make_context(tmp_path, url) as ctx:
            run = pipeline.start_run(ctx, trigger, FIRST, run_id="1")
            await pipeline.discover(ctx, run)
            whole = ctx.store.list_planned_servers("1")
            assert len(whole) == len(make_references())
            for name, options, expected in (
                ("2", RunOptions(registries=("first",), limit=9), whole[:9]),
                ("3", RunOptions(registries=("first",), only=(whole[4], whole[20])), [whole[4], whole[20]]),
                ("4", RunOptions(registries=("first",), only=("srv_*",), limit=5), whole[:5]),
            ):
                await pipeline.discover(ctx, pipeline.start_run(ctx, trigger, options, run_id=name))
                assert ctx.store.list_planned_servers(name) == expected
            none = pipeline.start_run(ctx, trigger, RunOptions(registries=("first",), only=("nothing",)), run_id="5")
            await pipeline.discover(ctx, none)
            row = ctx.store.find_run("5")
            assert row is not None
            assert (row.state, row.plan_position) == (RunState.DISCOVERING, None)

    asyncio.run(main())


class _Queues:
    def __init__(self) -> None:
        self.issued: list[str] = []

    def issue(self, task: str, argument: str) -> None:
        assert argument == NAME
        self.issued.append(task)

    def waiting(self, queue: str) -> int:
        return 0


@asynccontextmanager
async def _my_turn(_name: str) -> AsyncIterator[bool]:
    yield True


@pytest.mark.usefixtures("small_parts")
def test_a_task_ends_when_its_time_is_over_and_the_next_sweep_continues(
    tmp_path: Path, url: str, whole: Items, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sweep(ctx: Context) -> list[str]:
        queues = _Queues()
        await steps.issue_due_tasks(ctx, lambda _: queues, forward=False)
        return queues.issued

    @asynccontextmanager
    async def two_parts(*_: object) -> AsyncIterator[asyncio.Event]:
        yield _HaltAfter(2)

    async def main() -> None:
        async with make_context(tmp_path, url, shard_time=timedelta(0)) as ctx:
            await steps.plan_due_runs(ctx, _my_turn)
            assert ctx.store.read_progress(NAME).planned == 0, "the walk took all the time of the task"
            monkeypatch.setattr(steps, "open_halt", two_parts)
            clock = SteppingClock(NIGHT)
            ctx.clock, tasks = clock, 0
            while (await sweep(ctx)) == [schedule.PLAN_RUN]:
                await steps.plan_due_runs(ctx, _my_turn, only_known=True)
                clock.step(timedelta(hours=1))
                tasks += 1
            assert tasks > 2
            row = ctx.store.find_run(NAME)
            assert row is not None
            assert row.state is RunState.PLANNED

    asyncio.run(main())
    assert _items(url) == whole
