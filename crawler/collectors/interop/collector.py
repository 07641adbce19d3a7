"""InteropCollector: connects the official SDK's client to a server, in a short-lived process with its own budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from crawler.collector import Scarce, make_record
from crawler.collectors.earlier_values import read_time
from crawler.collectors.interop.client_process import run_client_process
from crawler.collectors.interop.request import InteropRequest
from crawler.collectors.interop.stdio_session import InteropResult, run_interop_over_stdio
from crawler.http.deadlines import pause_deadline
from crawler.http.engine import HttpEngine
from crawler.http.failures import InvalidTarget
from crawler.http.rate_limiting import REQUEST_GAP, HostRateLimiter
from crawler.http.url import parse_url
from crawler.launcher import Launcher
from evidence.canonical import Json
from evidence.kinds.interop import KIND
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType

VERSION: Final = 3
MET_AT: Final = "met_at"
_NO_ANSWER: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT})
_RUNNABLE: Final = frozenset({TargetType.NPM, TargetType.PYPI, TargetType.OCI, TargetType.COMMAND})


class InteropLimits(Struct, frozen=True, kw_only=True):
    """Budget of one client: seconds of wall and processor time, MiB of memory.

    `slots`: clients at the same time, with remotes and with launched servers each.
    """

    wall: float = 30.0
    cpu: int = 10
    memory: int = 512
    slots: int = 2


_MAX_REQUESTS: Final = 14  # of the client while no list has a second page; its process does not count them


class InteropCollector:
    """Collects kind `interop`. `launcher` is None where there is no sandbox, and then packages are not started.

    Its costs are not shared with the probe, and every outcome is evidence about interoperability only.
    """

    name: Final = "interop"
    version: Final = VERSION
    kinds: Final = (KIND,)
    needs: Final = Scarce.SERVER

    def __init__(
        self,
        engine: HttpEngine,
        launcher: Launcher | None,
        limiter: HostRateLimiter,
        clock: Callable[[], datetime],
        limits: InteropLimits | None = None,
        *,
        user_agent: str,
        gap: float = REQUEST_GAP,
        every: timedelta = timedelta(0),
    ) -> None:
        """A server is collected again when its last interop record is at least `every` old; until then that record is
        repeated.
        """
        self._engine = engine
        self._launcher = launcher
        self._limiter = limiter
        self._clock = clock
        self._limits = limits or InteropLimits()
        self._user_agent = user_agent
        self._gap = gap
        self._every = every
        # Separate slots, so that clients that wait for a sandbox do not block those of remotes.
        self._remotes = asyncio.Semaphore(self._limits.slots)
        self._processes = asyncio.Semaphore(self._limits.slots)

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """One interop record of the first target to which the client connected, else the reason of the first target."""
        now = self._clock()
        known = earlier.records.get(KIND)
        met_at = read_time(known, MET_AT)
        content: Observed | Absent
        observation: Mapping[str, Json]
        if known is None or met_at is None or now - met_at >= self._every:
            result = await self._connect(target)
            content, observation = result.content, {**result.facts, MET_AT: now.isoformat()}
        else:
            content, observation = known.content, known.observation
        return [make_record(self, target, KIND, content, observation, at=now)]

    async def _connect(self, server: Server) -> InteropResult:
        first: InteropResult | None = None
        for target in server.targets:
            result = (
                InteropResult(content=await self._connect_remote(target))
                if target.type.is_remote
                else await self._connect_launched(target)
            )
            if isinstance(result.content, Observed) or result.content.reason is Reason.COLLECTOR_OFFLINE:
                return result
            first = first or result
        return first or InteropResult(content=Absent(Reason.NO_PACKAGE, "neither a remote nor a package is declared"))

    async def _connect_remote(self, remote: Target) -> Observed | Absent:
        try:
            origin = parse_url(remote.identifier).origin
        except InvalidTarget as error:
            return error.absent()
        async with self._engine.open_session() as visit:
            is_private = await visit.is_private(origin)
        async with _slot(self._remotes), nullcontext() if is_private else self._limiter.reserve_host(origin.host):
            if not is_private:
                self._limiter.charge(origin.host, _MAX_REQUESTS)
            content = await run_client_process(self._build_request(remote, 0.0 if is_private else self._gap))
        return content if is_private else await self._attribute(content, origin.host)

    async def _attribute(self, content: Observed | Absent, host: str) -> Observed | Absent:
        """The content; `collector_offline` when the client reached nothing because this machine is offline."""
        outages = self._engine.outages
        if outages is None or isinstance(content, Observed) or content.reason not in _NO_ANSWER:
            return content
        if content.detail.startswith("HTTP ") or not await outages.is_offline(host):
            return content
        return Absent(Reason.COLLECTOR_OFFLINE, f"this machine was offline: {content.detail}")

    async def _connect_launched(self, target: Target) -> InteropResult:
        if target.type not in _RUNNABLE:
            return InteropResult(content=Absent(Reason.RUNTIME_UNSUPPORTED, f"{target.type} packages are not run yet"))
        if self._launcher is None:
            return InteropResult(content=Absent(Reason.NO_SANDBOX, "no sandbox is available here"))
        if target.launch.url:
            return InteropResult(content=Absent(Reason.TRANSPORT_UNSUPPORTED, "it listens on a port inside its box"))
        # Taken before the sandbox's slot, whose holder never waits for this one: no deadlock is possible.
        async with _slot(self._processes):
            return await run_interop_over_stdio(self._launcher, target, self._build_request(target, 0.0))

    def _build_request(self, target: Target, gap: float) -> InteropRequest:
        return InteropRequest(
            url=target.identifier if target.type.is_remote else "",
            transport=target.type.value,
            headers=target.headers,
            user_agent=self._user_agent,
            allow_private=self._engine.guard.allow_private,
            gap=gap,
            wall=self._limits.wall,
            cpu=self._limits.cpu,
            memory=self._limits.memory,
        )


@asynccontextmanager
async def _slot(slots: asyncio.Semaphore) -> AsyncIterator[None]:
    with pause_deadline():
        await slots.acquire()
    try:
        yield
    finally:
        slots.release()
