"""The steps over a scripted world and a real SQLite store."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.http.rate_limiting import HostRateLimiter
from evidence.kinds import listing, registration
from evidence.model import Absent, Dossier, Observed, Reason, Record, Run, Server, Status, Trigger
from evidence.store import RunState, Stage, StoreUnavailable
from scoring.engine import catalogue
from tests.workers.world import (
    LISTING,
    NIGHT,
    ScriptedCollector,
    ScriptedFollower,
    ScriptedRegistry,
    World,
    context,
    ref,
)
from workers import pipeline
from workers.concurrency import Halt
from workers.context import Context
from workers.runs import pins
from workers.runs.options import RunOptions
from workers.stages import scorecards

FIRST = RunOptions(registries=("first",))


def _registry(count: int, *, page: int = 3, name: str = "first") -> ScriptedRegistry:
    refs = [ref(number, registry=name) for number in range(count)]
    return ScriptedRegistry(name, [refs[start : start + page] for start in range(0, count, page)])


async def _planned(ctx: Context, options: RunOptions = FIRST) -> Run:
    run = pipeline.start_run(ctx, Trigger.LOCAL, options)
    await pipeline.discover(ctx, run)
    return run


def test_a_run_goes_from_registry_to_snapshot(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, World([_registry(7)])) as ctx:
            run = await _planned(ctx)
            servers = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, servers)
            await pipeline.score(ctx, run, servers)
            await pipeline.publish(ctx, run)
            progress = ctx.store.read_progress(run.id)
            assert (progress.planned, dict(progress.done)) == (7, {Stage.COLLECT: 7, Stage.SCORE: 7})
            assert len(ctx.store.read_scorecards(run.id)) == 7 * len(catalogue.list_rubrics())
            stored = ctx.store.find_run(run.id)
            assert stored is not None
            assert stored.state is RunState.PUBLISHED
            assert ctx.store.find_snapshot(run.id)
            assert ctx.store.compaction.list_runs_with_done_items() == []
            assert ctx.store.verify() == []

    asyncio.run(main())


def test_a_failing_registry_does_not_stop_the_others(tmp_path: Path) -> None:
    async def main() -> None:
        broken = _registry(6)
        broken.broken = {1}
        world = World([broken, _registry(2, name="second")])
        async with context(tmp_path, world) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first", "second")))
            walked = {walk.registry: walk for walk in await pipeline.discover(ctx, run)}
            assert walked["first"].error == "page 1 answered 503"
            assert walked["second"].done
            # The second registry names servers that are in the first one too.
            assert len(ctx.store.list_pending_servers(run.id, Stage.COLLECT)) == 3
            assert [server.seen_in for server in ctx.store.list_active_servers()][:1] != []

    asyncio.run(main())


def test_a_database_that_fails_during_a_walk_is_named_and_not_wrapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("database or disk is full")

    async def main() -> None:
        async with context(tmp_path, World([_registry(2)])) as ctx:
            monkeypatch.setattr(ctx.store, "put_registry_page", full)
            with pytest.raises(StoreUnavailable, match="full"):
                await _planned(ctx)

    asyncio.run(main())


def test_a_walk_resumes_after_the_last_stored_page(tmp_path: Path) -> None:
    async def main() -> None:
        registry = _registry(9)
        halt = Halt()
        registry.on_page = halt.set
        async with context(tmp_path, World([registry])) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, FIRST)
            await pipeline.discover(ctx, run, halt=halt)
            assert ctx.store.read_progress(run.id).planned == 0
            await pipeline.discover(ctx, run)
            assert [cursor for cursor, _ in registry.asked] == [None, "1"]
            assert ctx.store.read_progress(run.id).planned == 9

    asyncio.run(main())


def test_the_next_walk_asks_for_what_changed_since_this_run(tmp_path: Path) -> None:
    async def main() -> None:
        registry = _registry(3)
        async with context(tmp_path, World([registry])) as ctx:
            await _planned(ctx)
            await _planned(ctx)
            assert [since for _, since in registry.asked] == [None, NIGHT]

    asyncio.run(main())


def test_an_entry_that_a_whole_walk_no_longer_sees_is_not_planned_again(tmp_path: Path) -> None:
    async def main() -> None:
        registry = _registry(3)
        registry.incremental = False
        async with context(tmp_path, World([registry])) as ctx:
            first = await _planned(ctx)
            registry.pages = [[ref(0)], [ref(2)]]
            second = await _planned(ctx)
            assert ctx.store.read_progress(first.id).planned == 3
            left = ctx.store.find_servers(ctx.store.list_pending_servers(second.id, Stage.COLLECT))
            assert sorted(server.name for server in left) == [ref(0).name, ref(2).name]

    asyncio.run(main())


def test_an_incremental_walk_retires_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        registry = _registry(3)
        async with context(tmp_path, World([registry])) as ctx:
            await _planned(ctx)
            registry.pages = [[ref(0)]]
            second = await _planned(ctx)
            assert ctx.store.read_progress(second.id).planned == 3

    asyncio.run(main())


def test_a_server_in_two_registries_is_one_server(tmp_path: Path) -> None:
    async def main() -> None:
        world = World([_registry(2), _registry(2, name="second")])
        async with context(tmp_path, world) as ctx:
            run = await _planned(ctx, RunOptions(registries=("first", "second")))
            servers = ctx.store.find_servers(ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert [server.seen_in for server in servers] == [("first", "second")] * 2

    asyncio.run(main())


def test_an_invalid_registration_is_recorded_and_not_contacted(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector()
        pages = [[ref(1), ref(2, status=Status.INVALID), ref(3, status=Status.DELETED)]]
        async with context(tmp_path, World([ScriptedRegistry("first", pages)], [collector])) as ctx:
            run = await _planned(ctx)
            servers = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, servers)
            dossiers = {dossier.server.name: dossier for dossier in ctx.store.read_dossiers(run.id, servers)}
            assert sorted(dossiers) == ["io.example/server-1", "io.example/server-2"]
            expected = Absent(Reason.INVALID_REGISTRATION, "first: name expected")
            assert dossiers["io.example/server-2"].read(registration.KIND) == expected
            assert dossiers["io.example/server-2"].read(listing.KIND) == expected
            assert collector.probed == [dossiers["io.example/server-1"].server.id]

    asyncio.run(main())


def test_a_flood_of_registrations_of_one_server_neither_breaks_its_score_nor_hides_its_own_entry(
    tmp_path: Path,
) -> None:
    fat = b'{"name":"x","_meta":{"y":"' + b"a" * 1_000_000 + b'"}}'
    flood = [replace(ref(0, registry="a"), name=f"io.evil/{number}", entry=fat) for number in range(20)]
    own = ref(0, registry="official")

    async def main() -> None:
        world = World([ScriptedRegistry("a", [flood]), ScriptedRegistry("official", [[own]])])
        async with context(tmp_path, world) as ctx:
            run = await _planned(ctx, RunOptions(registries=("a", "official")))
            [server] = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, [server])
            await pipeline.score(ctx, run, [server])
            assert ctx.store.list_failures(run.id) == []
            [dossier] = ctx.store.read_dossiers(run.id, [server])
            content = dossier.read(registration.KIND)
            assert isinstance(content, Observed)
            assert own.entry in content.body

    asyncio.run(main())


def test_a_bug_in_a_collector_is_recorded_and_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(server: Server) -> Observed | Absent:
        if server.name.endswith("-1"):
            raise KeyError("what a server said")
        return Observed(LISTING)

    async def main() -> None:
        async with context(tmp_path, World([_registry(3)], [ScriptedCollector(answer)])) as ctx:
            run = await _planned(ctx)
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert ctx.store.read_progress(run.id).done[Stage.COLLECT] == 3
            assert ctx.store.read_progress(run.id).absent == dict.fromkeys(
                [("drift", "collector_error"), ("listing", "collector_error")], 1
            )

    asyncio.run(main())
    logged = "".join(capsys.readouterr())
    assert "collector_failed" in logged
    assert "in answer" in logged  # where it was raised
    assert "what a server said" not in logged


def test_a_collector_that_answers_for_other_kinds_is_a_bug(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector(kinds=("listing", "listing"))
        async with context(tmp_path, World([_registry(1)], [collector])) as ctx:
            run = await _planned(ctx)
            collector.kinds = ("listing",)
            original = collector.collect

            async def none_at_all(target, earlier):  # type: ignore[no-untyped-def]
                await original(target, earlier)
                return []

            collector.collect = none_at_all  # type: ignore[method-assign]
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert ctx.store.read_progress(run.id).absent == dict.fromkeys(
                [("drift", "collector_error"), ("listing", "collector_error")], 1
            )

    asyncio.run(main())


def test_a_collector_that_never_returns_does_not_hold_up_the_run(tmp_path: Path) -> None:
    async def main() -> None:
        world = World([_registry(1)], [ScriptedCollector(delay=3600.0)])
        async with context(tmp_path, world, collector_timeout=timedelta(seconds=0.05)) as ctx:
            run = await _planned(ctx)
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert ctx.store.read_progress(run.id).absent == dict.fromkeys(
                [("drift", "collector_error"), ("listing", "collector_error")], 1
            )

    asyncio.run(main())


def test_waiting_for_a_host_that_many_servers_share_is_not_held_against_a_server(tmp_path: Path) -> None:
    courtesy = HostRateLimiter()

    class Polite(ScriptedCollector):
        async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
            async with courtesy.reserve_host("shared.example"):
                return await super().collect(target, earlier)

    async def main() -> None:
        world = World([_registry(5)], [Polite(delay=0.3)])
        async with context(tmp_path, world, collector_timeout=timedelta(seconds=1)) as ctx:
            run = await _planned(ctx)
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert ctx.store.read_progress(run.id).absent == {}

    asyncio.run(main())


def test_a_planned_run_still_says_which_registry_failed(tmp_path: Path) -> None:
    async def main() -> None:
        broken = _registry(6)
        broken.broken = {1}
        async with context(tmp_path, World([broken])) as ctx:
            run = await _planned(ctx)
            (walked,) = await pipeline.discover(ctx, run)
            assert walked.error == "page 1 answered 503"

    asyncio.run(main())


def test_nothing_is_planned_while_no_registry_answers(tmp_path: Path) -> None:
    async def main() -> None:
        broken = _registry(4)
        broken.broken = {0}
        async with context(tmp_path, World([broken])) as ctx:
            run = await _planned(ctx)
            assert ctx.store.read_progress(run.id).planned == 0
            await pipeline.discover(ctx, run)
            assert ctx.store.read_progress(run.id).planned == 4

    asyncio.run(main())


def test_a_collected_server_is_not_probed_again(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector()
        async with context(tmp_path, World([_registry(4)], [collector])) as ctx:
            run = await _planned(ctx)
            servers = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, servers[:3])
            await pipeline.collect(ctx, run, servers)
            assert sorted(collector.probed) == servers

    asyncio.run(main())


def test_the_earlier_dossier_reaches_the_collector(tmp_path: Path) -> None:
    async def main() -> None:
        collector = ScriptedCollector()
        async with context(tmp_path, World([_registry(1)], [collector])) as ctx:
            for _ in range(2):
                run = pipeline.start_run(ctx, Trigger.LOCAL, FIRST, run_id=f"2026-{len(collector.probed)}")
                await pipeline.discover(ctx, run)
                await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            (earlier,) = collector.earlier.values()
            assert earlier.read("listing") == Observed(LISTING)

    asyncio.run(main())


def test_a_follower_gets_the_records_of_earlier_followers(tmp_path: Path) -> None:
    inputs: list[list[str]] = []

    def recording_follower(kind: str) -> ScriptedFollower:
        return ScriptedFollower(kind, lambda found: inputs.append(sorted(found.records)) or Observed(b"{}"))  # type: ignore[func-returns-value]

    async def main() -> None:
        async with context(
            tmp_path, World([_registry(1)], following=[recording_follower("interop"), recording_follower("trials")])
        ) as ctx:
            run = await _planned(ctx)
            (server,) = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, [server])
            (dossier,) = ctx.store.read_dossiers(run.id, [server])
            assert inputs == [["listing", "registration"], ["interop", "listing", "registration"]]
            assert sorted(dossier.records) == ["drift", "interop", "listing", "registration", "trials"]

    asyncio.run(main())


def test_a_bug_in_a_follower_is_recorded_and_the_next_one_sees_it(tmp_path: Path) -> None:
    def broken(_: Dossier) -> Observed:
        raise LookupError("a follower's bug")

    async def main() -> None:
        inputs: list[object] = []
        after = ScriptedFollower("trials", lambda found: inputs.append(found.read("interop")) or Observed(b"{}"))  # type: ignore[func-returns-value]
        async with context(
            tmp_path, World([_registry(1)], following=[ScriptedFollower("interop", broken), after])
        ) as ctx:
            run = await _planned(ctx)
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert ctx.store.read_progress(run.id).absent == {("interop", "collector_error"): 1}
            assert inputs == [Absent(Reason.COLLECTOR_ERROR, "LookupError")]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("seen_at", "kept"), [("2026-11-20T03:00:00+00:00", True), ("2026-11-01T03:00:00+00:00", False), ("", False)]
)
def test_what_was_seen_before_a_bug_of_ours_stands_when_it_says_when(tmp_path: Path, seen_at: str, kept: bool) -> None:
    nights = iter([Observed(b'{"seen":1}')])

    def once(_: Dossier) -> Observed:
        return next(nights)  # StopIteration the second time: a bug

    follower = ScriptedFollower("repository", once, observation={"looked_at": seen_at} if seen_at else {})

    async def main() -> None:
        async with context(tmp_path, World([_registry(1)], following=[follower])) as ctx:
            for night in ("1", "2"):
                run = pipeline.start_run(ctx, Trigger.LOCAL, FIRST, run_id=night)
                await pipeline.discover(ctx, run)
                (server,) = ctx.store.list_planned_servers(run.id)
                await pipeline.collect(ctx, run, [server])
            (dossier,) = ctx.store.read_dossiers("2", [server])
            record = dossier.records["repository"]
            assert record.content == (
                Observed(b'{"seen":1}') if kept else Absent(Reason.COLLECTOR_ERROR, "RuntimeError")
            )
            assert ("failed" in record.observation) is kept

    asyncio.run(main())


def test_a_server_whose_entry_is_invalid_is_not_followed(tmp_path: Path) -> None:
    follower = ScriptedFollower("interop", lambda _: Observed(b"{}"))

    async def main() -> None:
        invalid = ScriptedRegistry("first", [[ref(0, status=Status.INVALID)]])
        async with context(tmp_path, World([invalid], following=[follower])) as ctx:
            run = await _planned(ctx)
            (server,) = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, [server])
            (dossier,) = ctx.store.read_dossiers(run.id, [server])
            assert dossier.read("interop") == Absent(Reason.INVALID_REGISTRATION, "first: name expected")
            assert follower.earlier == []

    asyncio.run(main())


def test_a_rule_that_raises_leaves_its_server_without_any_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_one = scorecards.score_dossier

    def raising(dossier, *rubrics):  # type: ignore[no-untyped-def]
        if dossier.server.name.endswith("-2"):
            raise ZeroDivisionError("a rule's bug")
        return score_one(dossier, *rubrics)

    monkeypatch.setattr(scorecards, "score_dossier", raising)

    async def main() -> None:
        async with context(tmp_path, World([_registry(5)])) as ctx:
            run = await _planned(ctx)
            servers = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, servers)
            await pipeline.score(ctx, run, servers)
            (failed,) = ctx.store.list_pending_servers(run.id, Stage.SCORE)
            assert ctx.store.read_scorecards(run.id, servers=[failed]) == []
            assert ctx.store.record_failure(run.id, failed, Stage.SCORE, "again") == 2
            with pytest.raises(pipeline.NotPublishable, match="4 of 5"):
                await pipeline.publish(ctx, run)
            await pipeline.publish(ctx, run, late=True)
            assert ctx.store.find_snapshot(run.id)

    asyncio.run(main())


def test_a_server_without_evidence_is_not_scored(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, World([_registry(2)])) as ctx:
            run = await _planned(ctx)
            servers = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, servers[:1])
            await pipeline.score(ctx, run, servers)
            assert ctx.store.list_pending_servers(run.id, Stage.SCORE) == servers[1:]

    asyncio.run(main())


@pytest.mark.parametrize("step", ["discover", "collect", "score", "publish"])
def test_a_run_of_other_code_is_refused(tmp_path: Path, step: str) -> None:
    async def main() -> None:
        async with context(tmp_path, World([_registry(1)])) as ctx:
            run = await _planned(ctx)
            ctx.pins = {**ctx.pins, "ruleset": "another"}
            batch = () if step in {"discover", "publish"} else ([],)
            with pytest.raises(pins.PinMismatch, match="here another"):
                await getattr(pipeline, step)(ctx, run, *batch)

    asyncio.run(main())


def test_only_and_limit_choose_the_same_servers_every_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, World([_registry(9)])) as ctx:
            whole = ctx.store.list_pending_servers((await _planned(ctx)).id, Stage.COLLECT)
            limited = await _planned(ctx, RunOptions(registries=("first",), limit=4))
            assert ctx.store.list_pending_servers(limited.id, Stage.COLLECT) == whole[:4]
            named = await _planned(ctx, RunOptions(registries=("first",), only=("*-3", whole[0])))
            chosen = ctx.store.find_servers(ctx.store.list_pending_servers(named.id, Stage.COLLECT))
            assert {"io.example/server-3"} <= {server.name for server in chosen}
            assert whole[0] in {server.id for server in chosen}
            assert len(chosen) <= 2

    asyncio.run(main())
