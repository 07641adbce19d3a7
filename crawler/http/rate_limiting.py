"""Politeness: one request at a time per host, a gap between requests, Retry-After honoured, and requests counted."""

from __future__ import annotations

import asyncio
import datetime as dt
import email.utils
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from crawler.http.deadlines import pause_deadline
from crawler.http.request_budgets import RequestBudgets

REQUEST_GAP: Final = 0.6  # seconds; a census at higher rates was answered with 429 (docs/decisions/0008)
MAX_PAUSE: Final = 30.0
_SWEEP: Final = 4096  # hosts kept before idle ones are forgotten


@dataclass(slots=True)
class _Host:
    visit: asyncio.Lock = field(default_factory=asyncio.Lock)
    request: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    ready_at: float = 0.0


class HostRateLimiter:
    """Turns at hosts, in this process. `tick` is a monotonic clock in seconds and `sleep` waits; both are injected."""

    def __init__(
        self,
        *,
        gap: float = REQUEST_GAP,
        longest_pause: float = MAX_PAUSE,
        tick: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        budgets: RequestBudgets | None = None,
    ) -> None:
        self._gap = gap
        self._longest_pause = longest_pause
        self._tick = tick
        self._sleep = sleep
        self._hosts: dict[str, _Host] = {}
        self.budgets = budgets

    @property
    def hosts(self) -> int:
        """How many hosts are remembered."""
        return len(self._hosts)

    async def pause(self, seconds: float) -> None:
        """Wait on the injected clock."""
        await self._sleep(seconds)

    @asynccontextmanager
    async def visit(self, host: str) -> AsyncIterator[None]:
        """Be the only visitor of a host, so that a probe's own deadline does not run while it queues."""
        with self._use(host) as entry:
            with pause_deadline():
                await entry.visit.acquire()
            try:
                yield
            finally:
                entry.visit.release()

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for the turn of one request and hold it until the answer is read."""
        with self._use(host) as entry:
            async with entry.request:
                wait = entry.ready_at - self._tick()
                if wait > 0:
                    await self._sleep(wait)
                self.charge(host)
                try:
                    yield
                finally:
                    entry.ready_at = max(entry.ready_at, self._tick() + self._gap)

    @contextmanager
    def _use(self, host: str) -> Iterator[_Host]:
        entry = self._hosts.setdefault(host, _Host())
        entry.users += 1
        try:
            yield entry
        finally:
            entry.users -= 1
            self._forget_idle()

    def defer(self, host: str, seconds: float) -> None:
        """Block requests to the host for this long, at most `longest_pause`; a server that asks for more is skipped.

        That is the one on whose behalf the host is visited (`crawler.http.request_budgets`).
        """
        entry = self._hosts.setdefault(host, _Host())
        entry.ready_at = max(entry.ready_at, self._tick() + min(max(seconds, 0.0), self._longest_pause))
        if not self.accepts(seconds) and self.budgets is not None:
            self.budgets.rest(seconds)

    def left(self, host: str) -> float:
        """Seconds until the next request to the host is allowed; 0 when it is free or unknown."""
        entry = self._hosts.get(host)
        return max(0.0, entry.ready_at - self._tick()) if entry else 0.0

    def charge(self, host: str, requests: int = 1) -> None:
        """Count requests to a host, which is done by itself where a turn is taken for each."""
        if self.budgets is not None:
            self.budgets.charge(host, requests)

    def accepts(self, seconds: float) -> bool:
        """True when a Retry-After is short enough to be waited for."""
        return seconds <= self._longest_pause

    def _forget_idle(self) -> None:
        if len(self._hosts) < _SWEEP:
            return
        now = self._tick()
        for name in [name for name, entry in self._hosts.items() if not entry.users and entry.ready_at <= now]:
            del self._hosts[name]


def parse_retry_after(value: str, now: dt.datetime) -> float | None:
    """Seconds of a Retry-After header (delta or HTTP date), never negative; None when there is none."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return max(0.0, (moment - now).total_seconds())
