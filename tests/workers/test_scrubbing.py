"""What is kept of a server is searched for secrets without holding up the others."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from evidence.derive.scrubbing import scrubbed
from evidence.model import Observed, Record, Trigger
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import looking, pipeline
from workers.options import RunOptions


@pytest.mark.parametrize("length", [10, looking.LONG])
def test_long_bodies_are_searched_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    searched: dict[str, bool] = {}

    def watched(record: Record) -> Record:
        searched[record.kind] = threading.current_thread() is threading.main_thread()
        return scrubbed(record)

    monkeypatch.setattr(looking, "scrubbed", watched)
    body = LISTING.replace(b"catalogue", b"x" * length)

    async def main() -> None:
        world = World([ScriptedRegistry("first", [[ref(1)]])], [ScriptedCollector(lambda _: Observed(body))])
        async with context(tmp_path, world, registries=("first",)) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)))
            await pipeline.discover(ctx, run)
            await pipeline.collect(ctx, run, ctx.store.planned(run.id))

    asyncio.run(main())
    assert searched["listing"] is (length < looking.LONG)
