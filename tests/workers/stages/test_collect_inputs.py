"""What is known of servers is read for many at a time, also of those that wait for a host."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.model import ServerId, ServerRef, Trigger
from evidence.store import Stage, Store
from tests.workers.world import ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.concurrency import split_turns
from workers.runs.options import RunOptions


def _at(number: int, host: str) -> ServerRef:
    one = ref(number)
    (target,) = one.targets
    return replace(one, targets=(replace(target, identifier=f"https://{host}/{number}/mcp"),))


def test_servers_that_wait_are_read_together_when_the_first_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    refs_of = Store.find_refs

    def watched(self: Store, servers: Sequence[ServerId]) -> dict[ServerId, list[ServerRef]]:
        reads.append(len(servers))
        return refs_of(self, servers)

    async def main() -> None:
        refs = [_at(number, "shared.example") for number in range(5)] + [ref(number) for number in range(10, 40)]
        collector = ScriptedCollector()
        async with context(tmp_path, World([ScriptedRegistry("first", [refs])], [collector]), in_flight=2) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)))
            await pipeline.discover(ctx, run)
            monkeypatch.setattr(Store, "find_refs", watched)
            await pipeline.collect(ctx, run, ctx.store.list_pending_servers(run.id, Stage.COLLECT))
            assert len(collector.probed) == 35

    asyncio.run(main())
    assert reads == [31, 4]


def test_the_first_of_each_place_need_not_wait() -> None:
    pieces = ["a1", "a2", "a3", "b1", "-", "-", "b2"]
    assert split_turns(pieces, lambda piece: piece[0].strip("-") or None) == (
        ["a1", "b1", "-", "-"],
        ["a2", "b2", "a3"],
    )
