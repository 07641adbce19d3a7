"""The inputs of collecting a server, read for many servers at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.model import Dossier, Run, Server, ServerId, ServerRef
from evidence.store import Stage
from workers.stages import earlier_evidence
from workers.stages.routing import FIRST_STAGES

if TYPE_CHECKING:
    from workers.context import Context


_READ_TOGETHER: Final = 20
"""Servers whose inputs are read when one of them is needed: all are kept in memory until their turns."""


class CollectInput(Struct, frozen=True):
    """A server, its registry entries, its evidence from earlier runs, and its evidence from this run so far.

    `refs` is None for a server that no registry lists; then no registration is recorded.
    """

    server: Server
    refs: tuple[ServerRef, ...] | None
    earlier: Dossier
    found: Dossier


class CollectInputReader:
    """Reads the inputs of one stage of a run for many servers at a time."""

    def __init__(self, ctx: Context, run: Run, stage: Stage) -> None:
        self._ctx = ctx
        self._run = run
        self._reads_found = stage not in FIRST_STAGES and stage is not Stage.COLLECT
        self._kept: dict[ServerId, CollectInput] = {}
        self._later: dict[ServerId, Server] = {}
        self._reading = asyncio.Lock()

    async def prefetch(self, soon: Sequence[Server], later: Sequence[Server]) -> None:
        """Read the inputs of servers that are needed soon, and keep each until it is read.

        Those of `later` are in the order of their turns. They may wait for long, so they are read, a few at a time,
        when the first of the few is needed.
        """
        self._later |= {server.id: server for server in later}
        self._kept |= await asyncio.to_thread(self.read_inputs, soon)

    async def read_input(self, server: Server) -> CollectInput:
        if server.id not in self._kept:
            async with self._reading:
                if server.id not in self._kept:
                    self._kept |= await asyncio.to_thread(self.read_inputs, self._take_few(server))
        return self._kept.pop(server.id)

    def _take_few(self, server: Server) -> Sequence[Server]:
        """The server and those whose turn is next."""
        self._later.pop(server.id, None)
        others = list(islice(self._later, _READ_TOGETHER - 1))
        return [server, *(self._later.pop(other) for other in others)]

    def read_inputs(self, servers: Sequence[Server]) -> Mapping[ServerId, CollectInput]:
        with self._ctx.store.read_transaction():
            return self._read_inputs(servers)

    def _read_inputs(self, servers: Sequence[Server]) -> Mapping[ServerId, CollectInput]:
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
