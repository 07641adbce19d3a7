"""Stored evidence is searched for secrets without delaying other servers."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from evidence.derive.secret_scrubbing import scrub_record
from evidence.model import Observed, Record, Trigger
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.runs.options import RunOptions
from workers.stages import server_collection


@pytest.mark.parametrize("length", [10, server_collection.LONG_BODIES])
def test_long_bodies_are_searched_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    searched: dict[str, bool] = {}

    def watched(record: Record) -> Record:
        searched[record.kind] = threading.current_thread() is threading.main_thread()
        return scrub_record(record)

    monkeypatch.setattr(server_collection, "scrub_record", watched)
    body = LISTING.replace(b"catalogue", b"x" * length)

    async def main() -> None:
        world = World([ScriptedRegistry("first", [[ref(1)]])], [ScriptedCollector(lambda _: Observed(body))])
        async with context(tmp_path, world, registries=("first",)) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)))
            await pipeline.discover(ctx, run)
            await pipeline.collect(ctx, run, ctx.store.list_planned_servers(run.id))

    asyncio.run(main())
    assert searched["listing"] is (length < server_collection.LONG_BODIES)
