"""Whole runs in this process over a scripted world."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from evidence.model import Absent, Dossier, Observed, Reason, Record, Server
from evidence.store import RunState
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import embedded
from workers.progress import StageStatus
from workers.runs.options import RunOptions
from workers.stages import scorecards

FIRST = RunOptions(registries=("first",))


class Watching:
    """Keeps every status; `react` may do something about one."""

    def __init__(self, react: Callable[[StageStatus], None] = lambda _: None) -> None:
        self.seen: list[StageStatus] = []
        self.react = react

    def show(self, status: StageStatus) -> None:
        self.seen.append(status)
        self.react(status)


def _world(count: int, collector: ScriptedCollector | None = None) -> World:
    registry = ScriptedRegistry("first", [[ref(number) for number in range(count)]])
    return World([registry], [collector or ScriptedCollector()])


def _interrupt(status: StageStatus) -> None:
    if status.stage == "collect" and status.done == 2 and not status.resumed:
        os.kill(os.getpid(), signal.SIGINT)


def test_a_run_ends_published_and_every_stage_was_shown(tmp_path: Path) -> None:
    def answer(server: Server) -> Observed | Absent:
        return Absent(Reason.TIMEOUT) if server.name.endswith("-1") else Observed(LISTING)

    async def main() -> None:
        watching = Watching()
        async with context(tmp_path, _world(4, ScriptedCollector(answer)), write_batch=1) as ctx:
            result = await embedded.run_embedded(ctx, FIRST, watching)
            assert result.ok
            assert (result.planned, result.collected, result.scored, result.failed) == (4, 4, 4, 0)
            assert dict(result.absent) == {"timeout": 1}
        last = {status.stage: status for status in watching.seen}
        assert list(last) == ["discover", "collect", "score", "publish"]
        assert (last["collect"].done, last["collect"].planned, dict(last["collect"].absent)) == (4, 4, {"timeout": 1})
        assert last["collect"].eta == 0

    asyncio.run(main())


def test_ctrl_c_keeps_what_is_done_and_the_next_call_resumes(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector(delay=0.01)
        world = _world(12, collector)
        async with context(tmp_path, world, write_batch=1, in_flight=1) as ctx:
            stopped = await embedded.run_embedded(ctx, FIRST, Watching(_interrupt))
            assert stopped.interrupted
            assert not stopped.published
            assert 2 <= stopped.collected < 12
            assert "resumes" in stopped.hint
            resumed = await embedded.run_embedded(ctx, FIRST)
            assert resumed.resumed
            assert resumed.ok
            assert resumed.run == stopped.run
            assert resumed.scored == 12
            assert len(collector.probed) <= 13  # the one in flight may have been cancelled
            assert ctx.store.verify() == []

    asyncio.run(main())


def test_ctrl_c_does_not_wait_for_a_slow_server(tmp_path: Path) -> None:
    class Endless(ScriptedCollector):
        async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
            return []

    async def main() -> None:
        async with context(tmp_path, _world(3, Endless()), in_flight=1, stop_grace=0.1) as ctx:
            result = await asyncio.wait_for(embedded.run_embedded(ctx, FIRST), timeout=60)
            assert (result.interrupted, result.collected) == (True, 0)

    asyncio.run(main())


def test_fresh_abandons_the_unfinished_run(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(6), write_batch=1, in_flight=1) as ctx:
            stopped = await embedded.run_embedded(ctx, FIRST, Watching(_interrupt))
            fresh = await embedded.run_embedded(ctx, RunOptions(registries=("first",), fresh=True))
            assert fresh.run.id != stopped.run.id
            assert fresh.ok
            abandoned = ctx.store.find_run(stopped.run.id)
            assert abandoned is not None
            assert abandoned.state is RunState.ABANDONED

    asyncio.run(main())


def test_other_options_do_not_touch_an_unfinished_run(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(6), write_batch=1, in_flight=1) as ctx:
            stopped = await embedded.run_embedded(ctx, FIRST, Watching(_interrupt))
            other = await embedded.run_embedded(ctx, RunOptions(registries=("first",), limit=2))
            assert (other.planned, other.ok) == (2, True)
            resumed = await embedded.run_embedded(ctx, FIRST)
            assert resumed.run == stopped.run

    asyncio.run(main())


def test_a_finished_run_is_not_resumed(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(2)) as ctx:
            first = await embedded.run_embedded(ctx, FIRST)
            second = await embedded.run_embedded(ctx, FIRST)
            assert second.run.id != first.run.id
            assert second.ok

    asyncio.run(main())


def test_two_runs_in_one_home_are_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(1)) as ctx:
            with (tmp_path / "run.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                with pytest.raises(embedded.RunAlreadyActive, match="HALLMARK_HOME"):
                    await embedded.run_embedded(ctx, FIRST)
            assert (await embedded.run_embedded(ctx, FIRST)).ok

    asyncio.run(main())


def test_a_run_with_an_unscorable_server_is_not_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(scorecards, "score_dossier", raising)

    async def main() -> None:
        async with context(tmp_path, _world(3)) as ctx:
            result = await embedded.run_embedded(ctx, FIRST)
            assert (result.ok, result.published, result.failed) == (False, False, 3)
            assert "bug" in result.hint

    asyncio.run(main())


def test_a_run_without_servers_says_what_to_check(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, _world(2)) as ctx:
            result = await embedded.run_embedded(ctx, RunOptions(registries=("first",), only=("nothing-like-it",)))
            assert (result.ok, result.planned) == (False, 0)
            assert "--only" in result.hint

    asyncio.run(main())


def test_a_run_that_found_nothing_is_not_resumed(tmp_path: Path) -> None:
    async def main() -> None:
        world = _world(2)
        (registry,) = world.known
        assert isinstance(registry, ScriptedRegistry)
        registry.broken = {0}
        async with context(tmp_path, world) as ctx:
            assert (await embedded.run_embedded(ctx, FIRST)).planned == 0
            again = await embedded.run_embedded(ctx, FIRST)
            assert (again.resumed, again.ok, again.planned) == (False, True, 2)

    asyncio.run(main())


def test_a_registry_that_failed_makes_the_run_not_ok_but_publishes_the_rest(tmp_path: Path) -> None:
    async def main() -> None:
        world = _world(3)
        registry = ScriptedRegistry("second", [[ref(7, registry="second")]], broken={0})
        world.known = [*world.known, registry]
        async with context(tmp_path, world) as ctx:
            result = await embedded.run_embedded(ctx, RunOptions(registries=("first", "second")))
            assert (result.published, result.ok, result.scored) == (True, False, 3)

    asyncio.run(main())
