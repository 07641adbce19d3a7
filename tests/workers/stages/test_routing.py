"""Collecting in parts: every source looks once, in the same order, and finds what it finds when one does all."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.collector import Follower
from crawler.collectors.drift import DriftDeriver
from evidence.model import Absent, Dossier, Observed, Reason, Server, ServerRef, Target, TargetType, Trigger
from evidence.store import COLLECT_STAGES, Stage
from publish.publication import run_export
from tests.stepping_clock import SteppingClock
from tests.workers.world import (
    LISTING,
    NIGHT,
    ScriptedCollector,
    ScriptedFollower,
    ScriptedRegistry,
    World,
    context,
    ref,
    settings,
)
from workers import pipeline
from workers.context import Context
from workers.nightly import shards
from workers.runs.options import RunOptions
from workers.stages import routing
from workers.stages.routing import StageCollectors

REPOSITORY = "https://github.com/example/server"
PACKAGE = Target(type=TargetType.NPM, identifier="@example/server")


def _refs() -> list[ServerRef]:
    """Remotes only, packages, a remote with a repository, both, and entries that are invalid."""
    remote, other, kept, both = (ref(number) for number in range(4))
    return [
        remote,
        replace(other, targets=(PACKAGE,), repository=REPOSITORY),
        replace(kept, repository=REPOSITORY),
        replace(both, targets=(*both.targets, replace(PACKAGE, identifier="@example/both"))),
        replace(ref(4), repository=REPOSITORY),
    ]


class Looks:
    """Followers that record their inputs, and the servers that each of them read."""

    def __init__(self) -> None:
        self.seen: Counter[tuple[str, str]] = Counter()
        self.inputs: dict[tuple[str, str], frozenset[str]] = {}

    def follower(self, kind: str) -> ScriptedFollower:
        def answer(found: Dossier) -> Observed | Absent:
            self.seen[found.server.id, kind] += 1
            self.inputs[found.server.id, kind] = frozenset(found.records)
            return Absent(Reason.NO_SOURCE, ",".join(sorted(found.records)))

        return ScriptedFollower(kind, answer)

    def world(self) -> World:
        def listed(server: Server) -> Observed | Absent:
            self.seen[server.id, "listing"] += 1
            return Observed(LISTING)

        followers = [self.follower(kind) for kind in ("repository", "source", "advisories")]
        registry = ScriptedRegistry("first", [_refs()])
        return World([registry], [ScriptedCollector(listed)], following=followers)


async def _in_parts(ctx: Context, run: str) -> list[Stage]:
    """Work on a run as a fleet does until nothing is due; the parts in which something was."""
    worked: list[Stage] = []
    while due := [stage for stage in ctx.store.count_due_servers(run, ctx.clock.wall()) if stage in COLLECT_STAGES]:
        for stage in due:
            await shards.collect_shard(ctx, run, stage)
        worked += due
    return worked


def _export(ctx: Context, run: str) -> bytes:
    out = BytesIO()
    run_export.export_run(ctx.store, run, out, format="jsonl", comparable=True)
    return out.getvalue()


async def _run(ctx: Context, trigger: Trigger) -> str:
    run = await asyncio.to_thread(pipeline.start_run, ctx, trigger, RunOptions(registries=("first",)))
    await pipeline.discover(ctx, run)
    return run.id


def test_parts_find_what_one_task_finds_that_does_all(tmp_path: Path) -> None:
    whole, parts = Looks(), Looks()

    async def at_once() -> bytes:
        async with context(tmp_path / "whole", whole.world()) as ctx:
            run = await _run(ctx, Trigger.LOCAL)
            row = ctx.store.find_run(run)
            assert row is not None
            await pipeline.collect(ctx, row.run, ctx.store.list_pending_servers(run, Stage.COLLECT))
            return _export(ctx, run)

    async def in_parts() -> bytes:
        async with context(tmp_path / "parts", parts.world()) as ctx:
            run = await _run(ctx, Trigger.NIGHTLY)
            assert await _in_parts(ctx, run) == [Stage.PROBE, Stage.SANDBOX, Stage.GITHUB, Stage.SCAN]
            assert ctx.store.list_pending_servers(run, Stage.COLLECT) == []
            return _export(ctx, run)

    assert asyncio.run(in_parts()) == asyncio.run(at_once())
    assert parts.inputs == whole.inputs
    assert set(parts.seen.values()) == {1}


def test_a_server_is_in_the_queues_of_what_it_has(tmp_path: Path) -> None:
    async def main() -> None:
        async with context(tmp_path, Looks().world()) as ctx:
            run = await _run(ctx, Trigger.NIGHTLY)
            assert len(ctx.store.list_pending_servers(run, Stage.PROBE)) == 3
            assert len(ctx.store.list_pending_servers(run, Stage.SANDBOX)) == 2
            await shards.collect_shard(ctx, run, Stage.PROBE)
            collected = set(ctx.store.list_planned_servers(run)) - set(
                ctx.store.list_pending_servers(run, Stage.COLLECT)
            )
            assert len(collected) == 1, "the remote without a repository has nothing else to be collected"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("kinds", "route"),
    [
        ((), [Stage.SANDBOX]),
        (("repository",), [Stage.SANDBOX, Stage.GITHUB]),
        (("source", "advisories"), [Stage.SANDBOX, Stage.SCAN]),
        (("repository", "source"), [Stage.SANDBOX, Stage.GITHUB, Stage.SCAN]),
    ],
)
def test_every_follower_looks_in_exactly_one_part(kinds: Sequence[str], route: list[Stage]) -> None:
    server = Server(ref="npm:@example/server", name="x", targets=(PACKAGE,), repository=REPOSITORY, seen_in=("first",))
    looks = Looks()
    followers: list[Follower] = [looks.follower(kind) for kind in kinds]
    sources = StageCollectors([ScriptedCollector()], followers, [DriftDeriver()])
    stage: Stage | None = routing.first_stage(server)
    found, walked, asked = Dossier(server=server, as_of=ref(1).updated_at), [], []  # type: ignore[arg-type]
    while stage is not None:
        now = sources.select(server, stage, found).all
        asked += [one.name for one in now]
        records = {kind: None for one in now for kind in one.kinds}
        found = replace(found, records={**found.records, **records})  # type: ignore[dict-item]
        walked.append(stage)
        stage = sources.next_stage(server, stage)
    assert walked == route
    assert asked == ["protocol", *kinds, "drift"]


def test_a_repository_that_githubs_quota_did_not_suffice_for_is_asked_about_again(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def refused_once(found: Dossier) -> Observed | Absent:
        asked[found.server.id] += 1
        has_one = found.server.repository is not None or not routing.is_remote(found.server)
        return Absent(Reason.RATE_LIMITED if has_one and asked[found.server.id] == 1 else Reason.NO_REPOSITORY)

    async def main() -> None:
        world = dataclasses.replace(Looks().world(), following=[ScriptedFollower("repository", refused_once)])
        async with context(tmp_path, world, retries=1) as ctx:
            ctx.clock = clock = SteppingClock(NIGHT)
            run = await _run(ctx, Trigger.NIGHTLY)
            clock.step(timedelta(minutes=1))
            await _in_parts(ctx, run)
            assert len(ctx.store.list_pending_servers(run, Stage.GITHUB)) == 4
            assert len(ctx.store.list_pending_servers(run, Stage.COLLECT)) == 4, "no other server waits for GitHub"
            clock.step(2 * ctx.settings.retry_after)
            await _in_parts(ctx, run)
            assert ctx.store.list_pending_servers(run, Stage.COLLECT) == []
            assert set(asked.values()) == {1, 2}
            reasons = {why.reason for why in ctx.store.read_absences(run, "repository").values()}
            assert Reason.RATE_LIMITED not in reasons

    asyncio.run(main())


def test_a_process_looks_at_four_servers_for_each_place_in_the_sandbox(tmp_path: Path) -> None:
    roomy = settings(tmp_path, sandbox_slots=3, sandbox_memory=16 << 30)
    narrow = settings(tmp_path, sandbox_slots=3, sandbox_memory=2 << 30)

    assert routing.max_concurrent_servers(roomy, Stage.SANDBOX) == 12
    assert routing.max_concurrent_servers(narrow, Stage.SANDBOX) == 8
