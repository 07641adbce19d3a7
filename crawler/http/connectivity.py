"""Decides whether a connection failed because this machine is offline.

A host that does not answer is the fault of its operator, unless no unrelated host answers either. After a failure the
canaries decide: names of the operator's choice that are resolved and dialled. No request is sent to them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct, field

from crawler.http.canaries import parse_canary
from crawler.http.deadlines import isolate_shared_work, pause_deadline
from crawler.http.failures import WireFailure
from crawler.http.request_budgets import find_counted_domain
from crawler.http.resolver import Resolver, resolve_host

MIN_UNRELATED: Final = 3
"""Domains that fail in a row before an answer that was just received is doubted."""

TRUST_SECONDS: Final = 5.0
"""For how long one answer, or the canaries' silence, decides about later failures."""

DOUBT_SECONDS: Final = 1.0
"""The same after MIN_UNRELATED domains have failed in a row."""

CANARY_SECONDS: Final = 5.0
"""For how long the canaries have time to accept a connection."""

_ADDRESSES: Final = 2  # that are dialled per canary


class ConnectionHistory(Struct):
    """The last answer of any host, and the domains that failed since. `now` is monotonic."""

    _answered_at: float | None = None
    _silent_at: float | None = None
    _failed: set[str] = field(default_factory=set)

    @property
    def is_offline(self) -> bool:
        """True from the silence of the canaries to the next answer."""
        return self._silent_at is not None

    def record_answer(self, now: float) -> None:
        self._answered_at, self._silent_at = now, None
        self._failed.clear()

    def record_silence(self, now: float) -> None:
        """Note that no canary answered."""
        self._silent_at = now

    def judge_failure(self, domain: str, now: float) -> bool | None:
        """Whether this machine is offline at the failure of a domain; None when the canaries must be asked."""
        self._failed.add(domain)
        if self._silent_at is not None:
            return True if now - self._silent_at < TRUST_SECONDS else None
        trusted = DOUBT_SECONDS if len(self._failed) >= MIN_UNRELATED else TRUST_SECONDS
        return False if self._answered_at is not None and now - self._answered_at < trusted else None


class OutageMonitor:
    """Judges failures of one process. `canaries` are `HOST` or `HOST:PORT`; without any it is never offline.

    `report` is called with True when this machine goes offline, and with False when a host answers again.
    """

    def __init__(
        self,
        canaries: Sequence[str],
        resolver: Resolver,
        *,
        tick: Callable[[], float] = time.monotonic,
        report: Callable[[bool], None] = lambda offline: None,
    ) -> None:
        self._canaries = tuple(parse_canary(canary) for canary in canaries)
        self._resolver = resolver
        self._tick = tick
        self._report = report
        self._history = ConnectionHistory()
        self._check: asyncio.Task[bool] | None = None

    def record_answer(self) -> None:
        """Note that a host on the internet answered."""
        was_offline = self._history.is_offline
        self._history.record_answer(self._tick())
        if was_offline:
            self._report(False)

    async def is_offline(self, host: str) -> bool:
        """Whether the failure of a host that has no private address is the fault of this machine."""
        if not self._canaries:
            return False
        known = self._history.judge_failure(find_counted_domain(host), self._tick())
        return await self._ask_once() if known is None else known

    async def _ask_once(self) -> bool:
        """Ask the canaries; failures at the same time share one check."""
        if self._check is None or self._check.done() or self._check.get_loop() is not asyncio.get_running_loop():
            self._check = asyncio.create_task(self._ask_canaries(), context=isolate_shared_work())
        with pause_deadline():
            return await asyncio.shield(self._check)

    async def _ask_canaries(self) -> bool:
        if await _any_answers(self._canaries, self._resolver):
            self.record_answer()
            return False
        was_offline = self._history.is_offline
        self._history.record_silence(self._tick())
        if not was_offline:
            self._report(True)
        return True


async def _any_answers(canaries: Sequence[tuple[str, int]], resolver: Resolver) -> bool:
    """Whether any canary accepts a connection; the others are dropped after the first."""
    dials = [asyncio.create_task(_dial(host, port, resolver)) for host, port in canaries]
    try:
        for dial in asyncio.as_completed(dials, timeout=CANARY_SECONDS):
            if await dial:
                return True
    except TimeoutError:
        pass
    finally:
        for task in dials:
            task.cancel()
    return False


async def _dial(host: str, port: int, resolver: Resolver) -> bool:
    with suppress(WireFailure):
        for address in (await resolve_host(host, resolver))[:_ADDRESSES]:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(address, port)
                writer.close()
                return True
    return False
