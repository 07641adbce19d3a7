"""How a night ends: published, withheld when too much of it failed through us, or abandoned."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from evidence.model import Absent, Observed, Server, Trigger
from evidence.store import IllegalRunChange, RunAction, RunEvent, RunProgress, RunRow, RunState, Stage, StageFailure
from tests.stepping_clock import SteppingClock
from tests.workers.world import LISTING, NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref, settings
from workers import pipeline
from workers.context import Context
from workers.nightly import closing
from workers.nightly.withholding import find_withholding_reason
from workers.runs.options import RunOptions
from workers.stages import scorecards

RUN = "20261121T030000Z-nightly"


def _night(home: Path, count: int, failing: int = 0, **changes: object) -> AbstractAsyncContextManager[Context]:
    """A night over so many servers, at some of which our collector breaks."""

    def answer(server: Server) -> Observed | Absent:
        if int(server.name.rpartition("-")[2]) < failing:
            raise ZeroDivisionError
        return Observed(LISTING)

    refs = [ref(number) for number in range(count)]
    world = World([ScriptedRegistry("first", [refs])], [ScriptedCollector(answer)])
    return context(home, world, registries=("first",), retries=0, **changes)


async def _collected(ctx: Context, trigger: Trigger = Trigger.NIGHTLY) -> None:
    run = pipeline.start_run(ctx, trigger, RunOptions(registries=("first",)), run_id=RUN)
    await pipeline.discover(ctx, run)
    await pipeline.collect(ctx, run, ctx.store.list_planned_servers(RUN))


def _row(ctx: Context) -> RunRow:
    row = ctx.store.find_run(RUN)
    assert row is not None
    return row


def test_a_night_with_too_many_failures_of_ours_is_withheld_and_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20, failing=2) as ctx:
            await _collected(ctx)
            await closing.publish_run(ctx, RUN)
            row = _row(ctx)
            assert row.state is RunState.WITHHELD
            assert row.note == (
                "2 of 20 servers (10.0%, at most 5.0% allowed) have no listing through a failure of ours: "
                "2 collector_error"
            )
            assert [(event.who, event.what, event.note) for event in ctx.store.read_run_events(RUN)] == [
                ("hallmark", RunAction.WITHHELD, row.note)
            ]
            assert ctx.store.find_snapshot(RUN) is None

    asyncio.run(main())


def test_a_withheld_run_stays_withheld_until_a_decision(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20, failing=2) as ctx:
            await _collected(ctx)
            await closing.publish_run(ctx, RUN)
            await closing.publish_run(ctx, RUN)
            await pipeline.publish(ctx, _row(ctx).run, late=True)
            assert _row(ctx).state is RunState.WITHHELD

    asyncio.run(main())


def test_failures_within_the_bound_are_published(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20, failing=1) as ctx:
            await _collected(ctx)
            await closing.publish_run(ctx, RUN)
            assert _row(ctx).state is RunState.PUBLISHED

    asyncio.run(main())


def test_a_run_that_is_no_night_is_not_withheld(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 2, failing=2) as ctx:
            await _collected(ctx, Trigger.LOCAL)
            await closing.publish_run(ctx, RUN)
            assert _row(ctx).state is RunState.PUBLISHED

    asyncio.run(main())


def test_a_night_whose_scoring_fails_is_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    score_one = scorecards.score_dossier

    def raising(dossier, *rubrics):  # type: ignore[no-untyped-def]
        if dossier.server.name.endswith(("-1", "-2")):
            raise ZeroDivisionError("what a server said")
        return score_one(dossier, *rubrics)

    async def main() -> None:
        async with _night(tmp_path, 100) as ctx:
            await _collected(ctx)
            monkeypatch.setattr(scorecards, "score_dossier", raising)
            await closing.publish_run(ctx, RUN)
            row = _row(ctx)
            assert row.state is RunState.WITHHELD
            assert row.note == "2 of 100 servers (2.0%, at most 1.0% allowed) could not be scored: 2 ZeroDivisionError"

    asyncio.run(main())


def test_an_operator_may_have_a_withheld_night_published(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20, failing=2) as ctx:
            await _collected(ctx)
            await closing.publish_run(ctx, RUN)
            by = RunEvent(at=NIGHT, who="operator", what=RunAction.PUBLISHED, note="both are known")
            await closing.force_publish(ctx, _row(ctx), by)
            row = _row(ctx)
            assert (row.state, row.note) == (RunState.PUBLISHED, "both are known")
            assert ctx.store.read_run_events(RUN)[-1] == by
            assert ctx.store.find_snapshot(RUN) is not None

    asyncio.run(main())


def test_a_paused_or_cancelled_night_is_not_published(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 3) as ctx:
            await _collected(ctx)
            for what, state in ((RunAction.PAUSED, RunState.PAUSED), (RunAction.CANCELLED, RunState.CANCELLED)):
                ctx.store.apply_run_action(RUN, RunEvent(at=NIGHT, who="operator", what=what))
                await closing.publish_run(ctx, RUN)
                await pipeline.publish(ctx, _row(ctx).run, late=True)
                assert _row(ctx).state is state
            assert ctx.store.find_snapshot(RUN) is None

    asyncio.run(main())


def test_a_server_not_probed_in_time_is_missing_and_no_failure() -> None:
    progress = RunProgress(planned=100, done={Stage.COLLECT: 40, Stage.SCORE: 40}, absent={("listing", "timeout"): 30})
    assert find_withholding_reason(progress, [], settings(Path())) == ""


def test_servers_whose_turn_it_was_not_dilute_nothing() -> None:
    absent = {("listing", "quarantined"): 4, ("listing", "collector_error"): 3, ("package", "collector_error"): 50}
    progress = RunProgress(planned=1000, done={}, absent=absent, carried=900)
    assert find_withholding_reason(progress, [], settings(Path())) == (
        "7 of 100 servers (7.0%, at most 5.0% allowed) have no listing through a failure of ours: "
        "4 quarantined, 3 collector_error"
    )


def test_only_the_name_of_an_error_is_reported() -> None:
    failures = [StageFailure(server="a", stage=Stage.SCORE, attempts=1, last_error="<b>what a server said</b>")]
    assert find_withholding_reason(RunProgress(planned=1, done={}, absent={}), failures, settings(Path())).endswith(
        "scored: 1 error"
    )
    elsewhere = [StageFailure(server="a", stage=Stage.COLLECT, attempts=1, last_error="timeout")]
    assert find_withholding_reason(RunProgress(planned=1, done={}, absent={}), elsewhere, settings(Path())) == ""


def test_a_night_at_99_percent_waits_for_the_rest_so_long_and_no_longer(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 100, tail_wait=timedelta(minutes=45)) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            run = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)), run_id=RUN)
            await pipeline.discover(ctx, run)
            ids = ctx.store.list_planned_servers(RUN)
            await pipeline.collect(ctx, run, ids[:98])
            await pipeline.score(ctx, run, ids[:98])
            clock.step(timedelta(hours=2))
            assert not closing.is_closing_due(ctx, _row(ctx)), "98 % are too few, however long ago"
            await pipeline.collect(ctx, run, ids[98:99])
            await pipeline.score(ctx, run, ids[98:99])
            clock.step(timedelta(minutes=45))
            assert not closing.is_closing_due(ctx, _row(ctx))
            clock.step(timedelta(seconds=1))
            assert closing.is_closing_due(ctx, _row(ctx))
            await closing.publish_run(ctx, RUN)
            assert _row(ctx).state is RunState.PUBLISHED

    asyncio.run(main())


def test_the_servers_of_a_run_are_not_all_counted_while_many_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with _night(tmp_path, 100) as ctx:
            run = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)), run_id=RUN)
            await pipeline.discover(ctx, run)
            ids = ctx.store.list_planned_servers(RUN)
            counted: list[str] = []
            monkeypatch.setattr(type(ctx.store), "read_progress", lambda _self, run_id: counted.append(run_id))
            await pipeline.collect(ctx, run, ids[:60])
            assert not closing.is_closing_due(ctx, _row(ctx))
            await pipeline.collect(ctx, run, ids)
            await pipeline.score(ctx, run, ids[:97])
            assert not closing.is_closing_due(ctx, _row(ctx)), "three wait to be scored"
            assert counted == []

    asyncio.run(main())


def test_a_run_ends_when_nothing_is_left_to_do_however_many_could_not_be_scored(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20) as ctx:
            run = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)), run_id=RUN)
            await pipeline.discover(ctx, run)
            ids = ctx.store.list_planned_servers(RUN)
            await pipeline.collect(ctx, run, ids)
            await pipeline.score(ctx, run, ids[:10])
            for server in ids[10:]:
                for _ in range(3):
                    assert not closing.is_closing_due(ctx, _row(ctx))
                    ctx.store.record_failure(RUN, server, Stage.SCORE, "KeyError: 'a'")
            assert closing.is_closing_due(ctx, _row(ctx))

    asyncio.run(main())


def test_carried_servers_neither_hold_a_night_up_nor_make_it_publishable(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 10) as ctx:
            run = pipeline.start_run(ctx, Trigger.NIGHTLY, RunOptions(registries=("first",)), run_id=RUN)
            await pipeline.discover(ctx, pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",))))
            ids = sorted(server.id for server in ctx.store.list_active_servers())
            ctx.store.plan_run(RUN, ids, NIGHT, carried=ids[:8])
            await pipeline.score(ctx, run, ids)
            assert ctx.store.read_progress(RUN).done[Stage.SCORE] == 8
            with pytest.raises(pipeline.NotPublishable, match="0 of 2 servers are scored"):
                await pipeline.publish(ctx, run)
            await pipeline.collect(ctx, run, ids)
            await pipeline.score(ctx, run, ids)
            await closing.publish_run(ctx, RUN)
            assert _row(ctx).state is RunState.PUBLISHED
            assert b'"carried": 8' in (ctx.store.find_snapshot(RUN) or b"")

    asyncio.run(main())


def test_a_reopened_night_has_its_time_once_more(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 1) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await _collected(ctx)
            clock.step(ctx.settings.run_deadline + timedelta(seconds=1))
            assert closing.is_past_deadline(ctx, _row(ctx))
            ctx.store.apply_run_action(RUN, RunEvent(at=clock.wall(), who="hallmark", what=RunAction.WITHHELD))
            ctx.store.apply_run_action(RUN, RunEvent(at=clock.wall(), who="operator", what=RunAction.REOPENED))
            assert not closing.is_past_deadline(ctx, _row(ctx))
            clock.step(ctx.settings.run_deadline + timedelta(seconds=1))
            assert closing.is_past_deadline(ctx, _row(ctx))

    asyncio.run(main())


def test_a_pause_moves_no_deadline(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 1) as ctx:
            clock = SteppingClock(NIGHT)
            ctx.clock = clock
            await _collected(ctx)
            ctx.store.apply_run_action(RUN, RunEvent(at=clock.wall(), who="operator", what=RunAction.PAUSED))
            clock.step(ctx.settings.run_deadline + timedelta(seconds=1))
            ctx.store.apply_run_action(RUN, RunEvent(at=clock.wall(), who="operator", what=RunAction.RESUMED))
            assert closing.is_past_deadline(ctx, _row(ctx))

    asyncio.run(main())


def test_an_operator_cannot_publish_what_was_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 1) as ctx:
            await _collected(ctx)
            ctx.store.apply_run_action(RUN, RunEvent(at=NIGHT, who="operator", what=RunAction.CANCELLED))
            by = RunEvent(at=NIGHT, who="operator", what=RunAction.PUBLISHED, note="after all")
            with pytest.raises(IllegalRunChange, match="it is cancelled, which is final"):
                await closing.force_publish(ctx, _row(ctx), by)

    asyncio.run(main())
