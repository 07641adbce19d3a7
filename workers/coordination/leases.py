"""Leases on servers, which a task holds for one stage of a run."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path

from evidence.model import Run, ServerId
from evidence.store import Stage, StoreUnavailable
from workers.concurrency import Halt
from workers.context import Context
from workers.log import list_frames

# All servers that a worker held when it crashed are suspects. Smaller chunks of suspects narrow down the one server
# that crashes workers.
_SUSPECTS_DIVISOR = 8
_RELEASE_PAUSES = (0.5, 1.0, 2.0)

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


def has_holder_ended(holder: str) -> bool:
    """Whether a lease holder was a process of this machine and has ended; False for other machines."""
    machine, _, process = holder.rpartition(":")[0].rpartition(":")
    return machine == _machine() and _BOOT.exists() and not Path(f"/proc/{process}").exists()


@cache
def _machine() -> str:
    """Identifies the scope of process ids: the host name, its current boot and the PID namespace (container)."""
    try:
        return f"{socket.gethostname()}:{_BOOT.read_text()[:8]}:{_NAMESPACE.stat().st_ino}"
    except OSError:  # no Linux
        return socket.gethostname()


@asynccontextmanager
async def keep_renewed(ctx: Context, renew: Callable[[], Awaitable[bool]], **what: object) -> AsyncIterator[None]:
    """Call `renew` three times within the time of a lease, inside the context and until it returns False.

    A renewal that fails is logged with `what` and tried again: expired leases only repeat work.
    """

    async def repeat() -> None:
        goes_on: bool | BaseException = True
        while goes_on:
            await asyncio.sleep(ctx.settings.lease_ttl.total_seconds() / 3)
            (goes_on,) = await asyncio.gather(renew(), return_exceptions=True)
            if isinstance(goes_on, BaseException):
                _log_not_renewed(ctx, goes_on, **what)

    renewing = asyncio.create_task(repeat())
    try:
        yield
    finally:
        renewing.cancel()


class Leases:
    """Leases servers of one stage of a run in chunks until the task's time is over.

    `process` is the id of the holding process, by default this one.
    """

    def __init__(self, ctx: Context, run_id: str, stage: Stage, *, process: int | None = None) -> None:
        self._ctx = ctx
        self._run_id = run_id
        self._stage = stage
        self._holder = f"{_machine()}:{process or os.getpid()}:{secrets.token_hex(4)}"
        self._held: dict[ServerId, int] = {}
        self._deadline = ctx.clock.monotonic() + ctx.settings.shard_time.total_seconds()

    @asynccontextmanager
    async def hold(self, halt: Halt) -> AsyncIterator[None]:
        """Renew the leases inside the context, and release unfinished servers at its end.

        `halt` is set when the run was paused, cancelled or published.
        """
        try:
            async with keep_renewed(self._ctx, partial(self._renew, halt), run=self._run_id, stage=self._stage):
                yield
        finally:
            await self.release()

    async def pull(self) -> Sequence[ServerId]:
        """The next servers that have no lease and were not held when a worker crashed."""
        return await self._lease(self._ctx.settings.lease_chunk, tried=0)

    async def pull_suspects(self) -> Sequence[ServerId]:
        """A few servers that were held when one worker crashed, else a single one that was held when two crashed."""
        few = max(1, self._ctx.settings.lease_chunk // _SUSPECTS_DIVISOR)
        return await self._lease(few, tried=1) or await self._lease(1, tried=2)

    def find_token(self, server: ServerId) -> int | None:
        """The token of the lease of a server; None when this holder knows that it lost the lease."""
        return self._held.get(server)

    def find_tokens(self, servers: Sequence[ServerId]) -> dict[ServerId, int]:
        """The tokens of those of the servers whose lease this holder has not lost, as far as it knows."""
        return {server: self._held[server] for server in servers if server in self._held}

    async def recover(self) -> None:
        """Renew the leases after this process stood still, and forget those that expired meanwhile.

        When the database is not available, it refuses later what is written with a lost lease.
        """
        try:
            await self._renew_held()
        except StoreUnavailable as error:
            _log_not_renewed(self._ctx, error, run=self._run_id, stage=self._stage)

    async def release(self) -> None:
        """Release unfinished servers. When the database stays unavailable, the leases expire."""
        for pause in (*_RELEASE_PAUSES, None):
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
        return list(taken)

    async def _renew(self, halt: Halt) -> bool:
        await self._renew_held()
        row = await asyncio.to_thread(self._ctx.store.find_run, self._run_id)
        if row is None or not row.state.is_working:
            halt.set()
        return not halt.is_set()

    async def _renew_held(self) -> None:
        """Renew the leases; forget those that are no longer held, whose expiry is not counted as a crash."""
        named = dict(self._held)
        if not named:
            return
        ctx, item = self._ctx, (self._run_id, self._stage, self._holder)
        held = set(
            await asyncio.to_thread(
                ctx.store.renew_leases, *item, named.keys(), ttl=ctx.settings.lease_ttl, now=ctx.clock.wall()
            )
        )
        lost = [server for server, token in named.items() if server not in held and self._held.get(server) == token]
        for server in lost:
            del self._held[server]
        if lost:
            await asyncio.to_thread(ctx.store.excuse_expiry, *item, lost, now=ctx.clock.wall())


def log_refused(ctx: Context, run: Run, stage: Stage, lost: Collection[ServerId]) -> None:
    """Log that the results of servers were refused, if any were."""
    if lost:
        ctx.log.warning("results_of_lost_leases_refused", run=run.id, stage=stage.value, servers=len(lost))


def _log_not_renewed(ctx: Context, error: BaseException, **what: object) -> None:
    ctx.log.warning("leases_not_renewed", error=type(error).__name__, at=list_frames(error), **what)
