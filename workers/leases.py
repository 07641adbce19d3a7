"""Servers that a task holds for one stage of a run."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Sequence

from evidence.model import ServerId
from evidence.store import Stage
from workers.context import Context


class Leases:
    """Servers that this task holds for one stage of a run, handed out in chunks until its time is over."""

    def __init__(self, ctx: Context, run_id: str, stage: Stage) -> None:
        self._ctx = ctx
        self._run_id = run_id
        self._stage = stage
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._deadline = ctx.clock.monotonic() + ctx.settings.shard_time.total_seconds()
        self._seen: set[ServerId] = set()

    async def pull(self) -> Sequence[ServerId]:
        """The next servers that nobody holds, none twice."""
        if self._ctx.clock.monotonic() > self._deadline:
            return ()
        leased = await asyncio.to_thread(self._lease)
        fresh = [server for server in leased if server not in self._seen]
        self._seen.update(fresh)
        return fresh

    async def release(self) -> None:
        """Give back what was not finished."""
        await asyncio.to_thread(self._ctx.store.release, self._run_id, self._stage, self._holder)

    def _lease(self) -> list[ServerId]:
        now, settings = self._ctx.clock.wall(), self._ctx.settings
        return self._ctx.store.lease(
            self._run_id, self._stage, self._holder, limit=settings.lease_chunk, now=now, until=now + settings.lease_ttl
        )
