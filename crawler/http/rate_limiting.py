"""Rate limiting per host: one request at a time, a gap between requests, Retry-After, and counting of requests."""

from __future__ import annotations

import asyncio
import datetime as dt
import email.utils
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from msgspec import Struct, field

from crawler.http.deadlines import pause_deadline
from crawler.http.request_budgets import RequestBudgets

REQUEST_GAP: Final = 0.6  # seconds; a census at higher rates was answered with 429 (docs/decisions/0008)
MAX_PAUSE: Final = 30.0
_SWEEP: Final = 4096  # number of hosts from which on idle ones are removed


class _Host(Struct):
    reserved: asyncio.Lock = field(default_factory=asyncio.Lock)
    request: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    ready_at: float = 0.0


class HostRateLimiter:
    """Limits requests per host within this process. `tick` is a monotonic clock in seconds; `sleep` waits on it."""

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
        return len(self._hosts)

    async def pause(self, seconds: float) -> None:
        await self._sleep(seconds)

    @asynccontextmanager
    async def reserve_host(self, host: str) -> AsyncIterator[None]:
        """Reserve a host for one probe. The probe's deadline is paused while it waits for the reservation."""
        with self._use(host) as entry:
            with pause_deadline():
                await entry.reserved.acquire()
            try:
                yield
            finally:
                entry.reserved.release()

    @asynccontextmanager
    async def request_slot(self, host: str) -> AsyncIterator[None]:
        """Wait until the host may get a request; the slot is held until the response is read."""
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
            self._remove_idle()

    def defer(self, host: str, seconds: float) -> None:
        """Delay requests to the host by `seconds`, at most `longest_pause`.

        A longer pause is recorded for the current server (`crawler.http.request_budgets`), which is then skipped.
        """
        entry = self._hosts.setdefault(host, _Host())
        entry.ready_at = max(entry.ready_at, self._tick() + min(max(seconds, 0.0), self._longest_pause))
        if not self.accepts(seconds) and self.budgets is not None:
            self.budgets.record_pause(seconds)

    def remaining_delay(self, host: str) -> float:
        """Seconds until the next request to the host is allowed; 0 for an idle or unknown host."""
        entry = self._hosts.get(host)
        return max(0.0, entry.ready_at - self._tick()) if entry else 0.0

    def charge(self, host: str, requests: int = 1) -> None:
        """Count requests to a host that did not use `request_slot`, which counts by itself."""
        if self.budgets is not None:
            self.budgets.charge(host, requests)

    def accepts(self, seconds: float) -> bool:
        """True if a Retry-After of `seconds` is short enough to wait for."""
        return seconds <= self._longest_pause

    def _remove_idle(self) -> None:
        if len(self._hosts) < _SWEEP:
            return
        now = self._tick()
        for name in [name for name, entry in self._hosts.items() if not entry.users and entry.ready_at <= now]:
            del self._hosts[name]


def parse_retry_after(value: str, now: dt.datetime) -> float | None:
    """Seconds of a Retry-After header (delta or HTTP date), never negative; None if the value is neither."""
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
