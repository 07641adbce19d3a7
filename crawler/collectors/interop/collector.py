"""InteropCollector: sends the official SDK's client to a server, in a short-lived process with a budget of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from crawler.collectors.interop.errand import Errand, read_answer
from crawler.courtesy import GAP, Courtesy
from crawler.patience import queueing
from crawler.wire.address import parse_url
from crawler.wire.failures import InvalidTarget
from crawler.wire.http import Engine
from evidence.kinds.interop import KIND, SCHEMA
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target

VERSION: Final = 1
MET_AT: Final = "met_at"
_LINE: Final = 64 * 1024
_START: Final = 15.0  # seconds for the process to start and to end, on top of its own wall
# Nothing of our environment; one malloc arena, so that the bound on memory is one on use.
_ENVIRONMENT: Final = {"PATH": os.defpath, "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InteropLimits:
    """Budget of one meeting: seconds of wall and processor time, MiB of memory, meetings at the same time."""

    wall: float = 30.0
    cpu: int = 10
    memory: int = 512
    slots: int = 2


class InteropCollector:
    """Answers for kind `interop`, for remotes only: a package would need a sandbox around client and server.

    What it costs is not shared with the probe, and whatever happens is evidence about interoperability only.
    """

    name: Final = "interop"
    version: Final = VERSION
    kinds: Final = (KIND,)

    def __init__(
        self,
        engine: Engine,
        courtesy: Courtesy,
        clock: Callable[[], datetime],
        limits: InteropLimits | None = None,
        *,
        user_agent: str,
        gap: float = GAP,
        every: timedelta = timedelta(0),
    ) -> None:
        """A server is met again when its last meeting is at least `every` ago; until then its record is carried."""
        self._engine = engine
        self._courtesy = courtesy
        self._clock = clock
        self._limits = limits or InteropLimits()
        self._user_agent = user_agent
        self._gap = gap
        self._every = every
        self._slots = asyncio.Semaphore(self._limits.slots)

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """One interop record, of the first remote target."""
        now = self._clock()
        known = earlier.records.get(KIND)
        met_at = _met_at(known)
        if known is None or met_at is None or now - met_at >= self._every:
            content, met_at = await self._meet(target), now
        else:
            content = known.content
        return [
            Record(
                server=target.id,
                kind=KIND,
                schema=SCHEMA,
                collector=self.name,
                collector_version=self.version,
                observed_at=now,
                content=content,
                observation={MET_AT: met_at.isoformat()},
            )
        ]

    async def _meet(self, server: Server) -> Observed | Absent:
        remote = next((target for target in server.targets if target.type.is_remote), None)
        if remote is None:
            return Absent(Reason.TRANSPORT_UNSUPPORTED, "the official client is sent to remotes only")
        try:
            origin = parse_url(remote.identifier).origin
        except InvalidTarget as error:
            return error.absent()
        async with self._engine.visit() as visit:
            own = await visit.is_private(origin)
        with queueing():
            await self._slots.acquire()
        try:
            async with nullcontext() if own else self._courtesy.visit(origin.host):
                return await self._run(self._errand(remote, 0.0 if own else self._gap))
        finally:
            self._slots.release()

    def _errand(self, target: Target, gap: float) -> Errand:
        return Errand(
            url=target.identifier,
            transport=target.type.value,
            headers=target.headers,
            user_agent=self._user_agent,
            allow_private=self._engine.guard.allow_private,
            gap=gap,
            wall=self._limits.wall,
            cpu=self._limits.cpu,
            memory=self._limits.memory,
        )

    async def _run(self, errand: Errand) -> Observed | Absent:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "crawler.collectors.interop.client"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_ENVIRONMENT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(errand.wall + _START):
                line = await _talk(process, errand)
                code = await process.wait()
        except TimeoutError:
            return Absent(Reason.TIMEOUT, f"the client did not finish within {errand.wall:g} seconds")
        finally:
            await _end(process)
        if code in {-signal.SIGXCPU, -signal.SIGKILL}:
            return Absent(Reason.TOO_LARGE, f"the client needs more than {errand.cpu} s of processor time")
        return read_answer(line)


def _met_at(known: Record | None) -> datetime | None:
    """When the client met the server that an earlier record is about; None when that is not written there."""
    stated = known.observation.get(MET_AT) if known else None
    try:
        return datetime.fromisoformat(stated) if isinstance(stated, str) else None
    except ValueError:
        return None


async def _talk(process: asyncio.subprocess.Process, errand: Errand) -> bytes:
    """Send the errand and read at most one line's worth of bytes."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(errand.to_json())
        await process.stdin.drain()
        process.stdin.close()
    parts: list[bytes] = []
    size = 0
    while size <= _LINE and (part := await process.stdout.read(_LINE)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave nothing behind: the process leads a session of its own."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
