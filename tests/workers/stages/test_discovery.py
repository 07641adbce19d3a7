"""A walk in several parts asks for one thing from its beginning to its end, whatever other runs do in between."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evidence.model import Run, Trigger
from tests.workers.world import NIGHT, ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.concurrency import Halt
from workers.context import Context
from workers.runs.options import RunOptions
from workers.stages.discovery import WalkPosition

FIRST = RunOptions(registries=("first",))


async def _stopped_after_a_page(ctx: Context, registry: ScriptedRegistry) -> Run:
    halt = Halt()
    registry.on_page = halt.set
    run = pipeline.start_run(ctx, Trigger.LOCAL, FIRST)
    await pipeline.discover(ctx, run, halt=halt)
    registry.on_page = lambda: None
    return run


async def _whole_run(ctx: Context) -> None:
    await pipeline.discover(ctx, pipeline.start_run(ctx, Trigger.LOCAL, FIRST))


def test_a_walk_that_began_whole_is_resumed_whole(tmp_path: Path) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(0)], [ref(1)], [ref(2)]])
        async with context(tmp_path, World([registry])) as ctx:
            run = await _stopped_after_a_page(ctx, registry)
            await _whole_run(ctx)
            await pipeline.discover(ctx, run)
            assert registry.asked == [(None, None), (None, None), ("1", None)]

    asyncio.run(main())


def test_a_walk_that_began_with_a_watermark_is_resumed_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(0)], [ref(1)]])
        async with context(tmp_path, World([registry])) as ctx:
            await _whole_run(ctx)
            run = await _stopped_after_a_page(ctx, registry)
            ctx.store.set_watermark("first", NIGHT + timedelta(hours=1))
            await pipeline.discover(ctx, run)
            assert registry.asked[1:] == [(None, NIGHT), ("1", NIGHT)]

    asyncio.run(main())


@pytest.mark.parametrize("incremental", [True, False])
def test_a_resumed_walk_retires_nothing_that_another_run_saw_meanwhile(tmp_path: Path, incremental: bool) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(0)], [ref(1)], [ref(2)]], incremental=incremental)
        async with context(tmp_path, World([registry])) as ctx:
            run = await _stopped_after_a_page(ctx, registry)
            await _whole_run(ctx)
            await pipeline.discover(ctx, run)
            known = ctx.store.list_active_servers(["first"])
            assert sorted(server.name for server in known) == [ref(number).name for number in range(3)]

    asyncio.run(main())


def test_a_resumed_walk_that_was_alone_retires_what_it_did_not_see(tmp_path: Path) -> None:
    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(0)], [ref(1)], [ref(2)]], incremental=False)
        async with context(tmp_path, World([registry])) as ctx:
            await _whole_run(ctx)
            registry.pages = [[ref(0)], [ref(2)]]
            run = await _stopped_after_a_page(ctx, registry)
            await pipeline.discover(ctx, run)
            known = ctx.store.list_active_servers(["first"])
            assert sorted(server.name for server in known) == [ref(0).name, ref(2).name]

    asyncio.run(main())


@pytest.mark.parametrize("since", [None, datetime(2026, 11, 21, 3, 0, 0, 7, tzinfo=UTC)])
@pytest.mark.parametrize("cursor", ["a", "", "with spaces in it", "whole x", "\u202e"])
def test_a_bookmark_is_read_as_it_was_written(since: datetime | None, cursor: str) -> None:
    stored = WalkPosition(since).encode_next(cursor)
    assert stored is not None
    assert WalkPosition.parse(stored) == WalkPosition(since, cursor)
    assert WalkPosition(since).encode_next(None) is None


@pytest.mark.parametrize("stored", ["", "abc", "abc def", "2026-99-99 x"])
def test_what_is_no_bookmark_begins_again(stored: str) -> None:
    assert WalkPosition.parse(stored) is None
