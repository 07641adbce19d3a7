"""A circuit breaker for hosts: of one that does not answer, servers are looked at later instead of waiting for it now.

Nothing is said of a server because of another one: it is put back a few times, and then looked at all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Protocol

from evidence.kinds import listing
from evidence.model import Absent, Reason, Record, Run, Server
from evidence.store import Stage, Store
from workers.clock import Clock
from workers.log import get_log
from workers.stages import routing

MAX_POSTPONEMENTS: Final = 3
"""How often a server is put back because of its host; then it is looked at."""

NO_ANSWER_REASONS: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT})
HOST_UNRESPONSIVE: Final = "its host does not answer"


class CircuitBreaker(Protocol):
    """Knows which servers are better looked at later, and hears what was found of the others."""

    async def postpone_server(self, run: Run, stage: Stage, server: Server) -> bool:
        """True when a server was put back, and must not be looked at now."""

    async def tell(self, server: Server, records: Sequence[Record]) -> None:
        """Hear what was found of a server."""


class NoCircuitBreaker:
    """Looks at everybody now."""

    async def postpone_server(self, run: Run, stage: Stage, server: Server) -> bool:
        return False

    async def tell(self, server: Server, records: Sequence[Record]) -> None:
        pass


class HostFailures(Protocol):
    """How often in a row hosts did not answer, and which of them rest for it."""

    async def failed(self, host: str) -> None:
        """Count a visit that was not answered; after some in a row the host rests."""

    async def answered(self, host: str) -> None: ...

    async def rests(self, host: str) -> bool:
        """True while a host is left alone."""


@dataclass(slots=True)
class LocalHostFailures:
    """The silence that this process met: `most` visits in a row without an answer let a host rest so long."""

    clock: Clock
    most: int
    rest: timedelta
    _failures: dict[str, int] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)

    async def failed(self, host: str) -> None:
        """Count; after the rest the first failure lets the host rest again."""
        self._failures[host] = self._failures.get(host, 0) + 1
        if self._failures[host] >= self.most:
            self._until[host] = self.clock.monotonic() + self.rest.total_seconds()

    async def answered(self, host: str) -> None:
        self._failures.pop(host, None)
        self._until.pop(host, None)

    async def rests(self, host: str) -> bool:
        return self._until.get(host, 0.0) > self.clock.monotonic()


class HostCircuitBreaker:
    """Puts servers of resting hosts back until the rest is over."""

    def __init__(self, store: Store, clock: Clock, silence: HostFailures, rest: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._silence = silence
        self._rest = rest

    async def postpone_server(self, run: Run, stage: Stage, server: Server) -> bool:
        """Put a server back whose host rests, unless that was done often enough."""
        host = routing.find_probed_host(server)
        if host is None or not await self._silence.rests(host):
            return False
        back = await asyncio.to_thread(
            self._store.postpone_servers,
            run.id,
            stage,
            [server.id],
            delay=self._rest,
            why=HOST_UNRESPONSIVE,
            most=MAX_POSTPONEMENTS,
            now=self._clock.wall(),
        )
        if back:
            get_log().info("server_put_back", run=run.id, server=server.id, host=host)
        return bool(back)

    async def tell(self, server: Server, records: Sequence[Record]) -> None:
        """Count whether the host of a server answered."""
        host = routing.find_probed_host(server)
        found = [record.content for record in records if record.kind == listing.KIND]
        if host is None or not found:
            return
        silent = isinstance(found[0], Absent) and found[0].reason in NO_ANSWER_REASONS
        await (self._silence.failed(host) if silent else self._silence.answered(host))
