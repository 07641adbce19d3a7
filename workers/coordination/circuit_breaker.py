"""A circuit breaker for hosts: servers of a host that does not answer are postponed instead of waiting for timeouts.

A server is postponed a few times and then probed anyway, so its result never depends on another server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Protocol

from msgspec import Struct, field

from evidence.kinds import listing
from evidence.model import Absent, Observed, Reason, Record, Run, Server
from evidence.store import Stage, Store
from workers.clock import Clock
from workers.log import get_log
from workers.stages import routing

MAX_POSTPONEMENTS: Final = 3
"""How often a server is postponed because of its host before it is probed anyway."""

NO_ANSWER_REASONS: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT})
HOST_UNRESPONSIVE: Final = "its host does not answer"

MAX_HOSTS: Final = 10_000
"""Hosts without an answer that a process remembers, several times as many as it contacts at once; the ones that failed
longest ago are forgotten."""


class CircuitBreaker(Protocol):
    """Postpones servers whose host does not answer, and learns from the results of the others."""

    async def postpone_server(self, run: Run, stage: Stage, server: Server, token: int | None) -> bool:
        """True when the server, held by the lease with this token, was postponed and must not be probed now."""

    async def record_result(self, server: Server, records: Sequence[Record]) -> None:
        """Count whether the host of a server answered; a server that could not be asked counts as neither."""


class NoCircuitBreaker:
    """Postpones no server."""

    async def postpone_server(self, run: Run, stage: Stage, server: Server, token: int | None) -> bool:
        return False

    async def record_result(self, server: Server, records: Sequence[Record]) -> None:
        pass


class HostFailures(Protocol):
    """Counts consecutive failures per host; a host is paused after too many of them."""

    async def record_failure(self, host: str) -> None: ...

    async def record_answer(self, host: str) -> None:
        """Reset the count and the pause of a host."""

    async def is_paused(self, host: str) -> bool: ...


class LocalHostFailures(Struct):
    """Failures within this process; `max_failures` in a row pause a host for the time of `pause`."""

    clock: Clock
    max_failures: int
    pause: timedelta
    _failures: dict[str, int] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)

    async def record_failure(self, host: str) -> None:
        """Count a failure; after a pause the first failure pauses the host again."""
        number = self._failures[host] = self._failures.pop(host, 0) + 1  # the newest is last
        if number >= self.max_failures:
            self._until[host] = self.clock.monotonic() + self.pause.total_seconds()
        if len(self._failures) > MAX_HOSTS:
            self._forget(next(iter(self._failures)))

    async def record_answer(self, host: str) -> None:
        self._forget(host)

    async def is_paused(self, host: str) -> bool:
        return self._until.get(host, 0.0) > self.clock.monotonic()

    def _forget(self, host: str) -> None:
        self._failures.pop(host, None)
        self._until.pop(host, None)


class HostCircuitBreaker:
    """Postpones servers of paused hosts until the pause is over."""

    def __init__(self, store: Store, clock: Clock, host_failures: HostFailures, pause: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._host_failures = host_failures
        self._rest = pause

    async def postpone_server(self, run: Run, stage: Stage, server: Server, token: int | None) -> bool:
        """Postpone a server whose host is paused, at most MAX_POSTPONEMENTS times."""
        host = routing.find_probed_host(server)
        if host is None or not await self._host_failures.is_paused(host):
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
            tokens={} if token is None else {server.id: token},
        )
        if back:
            get_log().info("server_postponed", run=run.id, server=server.id, host=host)
        return bool(back)

    async def record_result(self, server: Server, records: Sequence[Record]) -> None:
        host = routing.find_probed_host(server)
        found = [record.content for record in records if record.kind == listing.KIND]
        if host is None or not found or _is_ours(found[0]):
            return
        silent = isinstance(found[0], Absent) and found[0].reason in NO_ANSWER_REASONS
        await (self._host_failures.record_failure(host) if silent else self._host_failures.record_answer(host))


def _is_ours(content: Observed | Absent) -> bool:
    return isinstance(content, Absent) and content.reason is Reason.COLLECTOR_OFFLINE
