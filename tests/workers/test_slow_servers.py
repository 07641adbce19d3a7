"""Slow servers, and many servers of one host, do not delay others: all others are stored first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Record, Server, ServerRef
from evidence.store import Stage
from tests.workers.world import ScriptedCollector, ScriptedRegistry, World, context, ref
from workers.context import Context
from workers.nightly import shards, steps

RUN = "20261121T030000Z-nightly"
QUICK = 40
LANES = 4


@asynccontextmanager
async def _my_turn(name: str) -> AsyncIterator[bool]:
    yield True


class Slow(ScriptedCollector):
    """Takes as long for a slow server as it takes until all the others are stored."""

    ctx: Context

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        if "slow" in target.name:
            while await asyncio.to_thread(self._done) < QUICK:
                await asyncio.sleep(0)
        return await super().collect(target, earlier)

    def _done(self) -> int:
        return self.ctx.store.read_progress(RUN).done[Stage.COLLECT]


def _slow(number: int, host: str) -> ServerRef:
    one = ref(1000 + number)
    (target,) = one.targets
    there = replace(target, identifier=f"https://{host}/{number}/mcp")
    return replace(one, name=f"io.example/slow-{number}", targets=(there,))


@pytest.mark.parametrize(
    ("slow", "hosts"), [(LANES - 1, LANES - 1), (30, 1)], ids=["nearly-every-lane", "many-of-one-host"]
)
def test_others_do_not_wait_for_those_who_are_slow(tmp_path: Path, slow: int, hosts: int) -> None:
    async def main() -> None:
        refs = [_slow(number, f"slow-{number % hosts}.example") for number in range(slow)]
        refs += [ref(number) for number in range(QUICK)]
        collector = Slow()
        world = World([ScriptedRegistry("first", [refs])], [collector])
        changes = {"in_flight": LANES, "host_gap": 0.0, "write_batch": 2, "lease_chunk": 100}
        async with context(tmp_path, world, registries=("first",), **changes) as ctx:
            collector.ctx = ctx
            await steps.plan_due_runs(ctx, _my_turn)
            await asyncio.wait_for(shards.collect_shard(ctx, RUN, Stage.PROBE), 60)
            assert ctx.store.read_progress(RUN).done[Stage.COLLECT] == QUICK + slow

    asyncio.run(main())
