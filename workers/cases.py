"""What is known of a server before it is looked at, read for many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evidence.model import Dossier, Run, Server, ServerId, ServerRef
from evidence.store import Stage
from workers import remembering
from workers.context import Context
from workers.stages import FIRST


@dataclass(frozen=True, slots=True)
class Case:
    """A server, its registry entries, what earlier runs know of it, and what this run has found of it by now."""

    server: Server
    refs: tuple[ServerRef, ...]
    earlier: Dossier
    found: Dossier


class Cases:
    """Reads the cases of one stage of a run. Those who ask at the same time share one look into the database."""

    def __init__(self, ctx: Context, run: Run, stage: Stage) -> None:
        self._ctx = ctx
        self._run = run
        self._reads_found = stage not in FIRST and stage is not Stage.COLLECT
        self._asked: dict[ServerId, Server] = {}
        self._reading: asyncio.Task[Mapping[ServerId, Case]] | None = None

    async def of(self, server: Server) -> Case:
        """The case of one server."""
        self._asked[server.id] = server
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_asked())
        return (await asyncio.shield(self._reading))[server.id]

    async def _read_asked(self) -> Mapping[ServerId, Case]:
        await asyncio.sleep(0)  # everybody who is about to ask
        asked, self._asked, self._reading = list(self._asked.values()), {}, None
        return await asyncio.to_thread(self.read, asked)

    def read(self, servers: Sequence[Server]) -> Mapping[ServerId, Case]:
        """The cases of servers by their id."""
        ctx, run, ids = self._ctx, self._run, [server.id for server in servers]
        refs = ctx.store.refs(ids)
        earlier = remembering.earlier(ctx.store, run, ids, ctx.clock.now())
        dossiers = ctx.store.dossiers(run.id, ids) if self._reads_found else ()
        found = {dossier.server.id: replace(dossier, as_of=ctx.clock.now()) for dossier in dossiers}
        return {
            server.id: Case(
                server,
                tuple(refs.get(server.id, ())),
                earlier.get(server.id) or Dossier(server=server, as_of=run.as_of),
                found.get(server.id) or Dossier(server=server, as_of=ctx.clock.now()),
            )
            for server in servers
        }
