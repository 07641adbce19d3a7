"""The inputs of collecting a server, read for many servers at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evidence.model import Dossier, Run, Server, ServerId, ServerRef
from evidence.store import Stage
from workers.stages import earlier_evidence
from workers.stages.routing import FIRST_STAGES

if TYPE_CHECKING:
    from workers.context import Context


@dataclass(frozen=True, slots=True)
class CollectInput:
    """A server, its registry entries, its evidence from earlier runs, and its evidence from this run so far.

    `refs` is None for a server that no registry lists; then no registration is recorded.
    """

    server: Server
    refs: tuple[ServerRef, ...] | None
    earlier: Dossier
    found: Dossier


class CollectInputReader:
    """Reads the inputs of one stage of a run: prefetched ones together, others one by one."""

    def __init__(self, ctx: Context, run: Run, stage: Stage) -> None:
        self._ctx = ctx
        self._run = run
        self._reads_found = stage not in FIRST_STAGES and stage is not Stage.COLLECT
        self._kept: dict[ServerId, CollectInput] = {}

    async def prefetch(self, servers: Sequence[Server]) -> None:
        """Read the inputs of servers that are needed soon, and keep each until it is read."""
        self._kept |= await asyncio.to_thread(self.read_inputs, servers)

    async def read_input(self, server: Server) -> CollectInput:
        kept = self._kept.pop(server.id, None)
        return kept or (await asyncio.to_thread(self.read_inputs, [server]))[server.id]

    def read_inputs(self, servers: Sequence[Server]) -> Mapping[ServerId, CollectInput]:
        ctx, run, ids = self._ctx, self._run, [server.id for server in servers]
        refs = ctx.store.find_refs(ids)
        earlier = earlier_evidence.read_earlier_evidence(ctx.store, run, ids, ctx.clock.now())
        dossiers = ctx.store.read_dossiers(run.id, ids) if self._reads_found else ()
        found = {dossier.server.id: replace(dossier, as_of=ctx.clock.now()) for dossier in dossiers}
        return {
            server.id: CollectInput(
                server,
                tuple(refs.get(server.id, ())),
                earlier.get(server.id) or Dossier(server=server, as_of=run.as_of),
                found.get(server.id) or Dossier(server=server, as_of=ctx.clock.now()),
            )
            for server in servers
        }
