"""Servers that a task holds for one stage of a run."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from evidence.model import ServerId
from evidence.store import Stage, StoreUnavailable
from workers.concurrency import Halt
from workers.context import Context

# A worker that dies takes everything with it that it holds. The one server that kills workers is narrowed down by
# handing out fewer at a time of those that were held when a worker died.
_NARROWED = 8
_PATIENCE = (0.5, 1.0, 2.0)

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


def has_holder_ended(holder: str) -> bool:
    """Whether a holder was a process of this machine and has ended. Unknown for other machines."""
    place, _, process = holder.rpartition(":")[0].rpartition(":")
    return place == _here() and _BOOT.exists() and not Path(f"/proc/{process}").exists()


@cache
def _here() -> str:
    """Where a number of a process means the same: this machine since it was started, and this container."""
    try:
        return f"{socket.gethostname()}:{_BOOT.read_text()[:8]}:{_NAMESPACE.stat().st_ino}"
    except OSError:  # no Linux
        return socket.gethostname()


class Leases:
    """Servers that this task holds for one stage of a run, handed out in chunks until its time is over.

    `process` is which one holds them, by default this one.
    """

    def __init__(self, ctx: Context, run_id: str, stage: Stage, *, process: int | None = None) -> None:
        self._ctx = ctx
        self._run_id = run_id
        self._stage = stage
        self._holder = f"{_here()}:{process or os.getpid()}:{secrets.token_hex(4)}"
        self._held: set[ServerId] = set()
        self._deadline = ctx.clock.monotonic() + ctx.settings.shard_time.total_seconds()

    @asynccontextmanager
    async def kept(self, halt: Halt) -> AsyncIterator[None]:
        """Renew what is held while inside and give back in the end what was not finished.

        `halt` is set when the run does not go on: it was paused, cancelled or published.
        """
        renewing = asyncio.create_task(self._renew(halt))
        try:
            yield
        finally:
            renewing.cancel()
            await self.release()

    async def pull(self) -> Sequence[ServerId]:
        """The next servers without a lease that have not crashed a worker."""
        return await self._lease(self._ctx.settings.lease_chunk, tried=0)

    async def pull_suspects(self) -> Sequence[ServerId]:
        """A few servers that were held when a worker died, or one that was when two died; to be looked at alone."""
        few = max(1, self._ctx.settings.lease_chunk // _NARROWED)
        return await self._lease(few, tried=1) or await self._lease(1, tried=2)

    async def release(self) -> None:
        """Give back what was not finished. When the database stays away, the leases end by themselves."""
        for pause in (*_PATIENCE, None):
            try:
                return await asyncio.to_thread(self._ctx.store.release_leases, self._run_id, self._stage, self._holder)
            except StoreUnavailable:
                if pause is None:
                    self._ctx.log.warning("leases_not_released", run=self._run_id, stage=self._stage)
                else:
                    await asyncio.sleep(pause)
        return None

    async def _lease(self, limit: int, *, tried: int) -> Sequence[ServerId]:
        ctx = self._ctx
        if ctx.clock.monotonic() > self._deadline:
            return ()
        taken = await asyncio.to_thread(
            ctx.store.lease_servers,
            self._run_id,
            self._stage,
            self._holder,
            limit=limit,
            ttl=ctx.settings.lease_ttl,
            now=ctx.clock.wall(),
            tried=tried,
        )
        self._held.update(taken)
        return taken

    async def _renew(self, halt: Halt) -> None:
        """Keep the leases from ending. What is lost while the database is away may be done twice, which is harmless."""
        ctx, ttl = self._ctx, self._ctx.settings.lease_ttl
        while not halt.is_set():
            await asyncio.sleep(ttl.total_seconds() / 3)
            named = frozenset(self._held)
            try:
                if named:
                    held = await asyncio.to_thread(
                        ctx.store.renew_leases,
                        self._run_id,
                        self._stage,
                        self._holder,
                        named,
                        ttl=ttl,
                        now=ctx.clock.wall(),
                    )
                    self._held -= named.difference(held)
                row = await asyncio.to_thread(ctx.store.find_run, self._run_id)
            except StoreUnavailable:
                ctx.log.warning("leases_not_renewed", run=self._run_id, stage=self._stage)
                continue
            if row is None or not row.state.is_working:
                halt.set()
