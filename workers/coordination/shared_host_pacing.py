"""Host rate limits shared between processes: one probe per host in the whole deployment, by leases in Redis."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from crawler.http.deadlines import pause_deadline
from crawler.http.rate_limiting import REQUEST_GAP, HostRateLimiter
from crawler.http.request_budgets import RequestBudgets
from workers.coordination.broker_statistics import COUNTERS_KEY, HOST_WAIT_SECONDS, HOST_WAITS
from workers.log import get_log

# Longest wait before the lease of a host that another process holds is tried again.
_POLL_SECONDS: Final = 1.0
# Redis counts as unavailable after this long without an answer; then each process limits its own rate.
_SILENCE_SECONDS: Final = 3.0
# A call takes a millisecond, so few connections serve thousands of probes; a call waits for a free one.
_CONNECTIONS: Final = 64
# Turns the lease of a finished probe into the gap before the next one, or into the pause that the host asked for,
# unless another process holds the lease now.
_LEAVE: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then return redis.call('pexpire', KEYS[1], ARGV[2]) end
return redis.call('del', KEYS[1])
"""


def open_shared_pool(url: str) -> BlockingConnectionPool:
    """A bounded pool of connections with timeouts, for all state that probes share."""
    return BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        socket_timeout=_SILENCE_SECONDS,
        socket_connect_timeout=_SILENCE_SECONDS,
        driver_info=None,  # else each connection reads and sends the version of its library
    )


class SharedHostPacing(HostRateLimiter):
    """A HostRateLimiter whose probes exclude each other across processes.

    A lease expires after `longest_visit` seconds, so that a dead worker does not block a host for longer. Without Redis
    each process limits its own rate: losing the leases costs at most one gap per process.
    """

    def __init__(
        self, redis: Redis, *, longest_visit: float, gap: float = REQUEST_GAP, budgets: RequestBudgets | None = None
    ) -> None:
        super().__init__(gap=gap, budgets=budgets)
        self._redis = redis
        self._longest_visit = longest_visit

    @asynccontextmanager
    async def reserve_host(self, host: str) -> AsyncIterator[None]:
        """Hold the lease of a host; the deadline of the probe is paused while it waits for the lease."""
        async with super().reserve_host(host):
            key, token = f"hallmark:host:{host}", secrets.token_hex(8)
            with pause_deadline():
                held = await self._enter(key, token)
            try:
                yield
            finally:
                if held:
                    await self._leave(key, token, max(self._gap, self.remaining_delay(host)))

    async def _enter(self, key: str, token: str) -> bool:
        """Wait for the lease; False when Redis is unavailable."""
        began, waited = asyncio.get_running_loop().time(), False
        try:
            while not await self._redis.set(key, token, nx=True, px=_milliseconds(self._longest_visit)):
                waited = True
                left = await self._redis.pttl(key)
                await asyncio.sleep(min(max(left, 1) / 1000, _POLL_SECONDS))
        except RedisError as error:
            get_log().warning("host_pacing_not_shared", error=type(error).__name__)
            return False
        if waited:
            await self._count(asyncio.get_running_loop().time() - began)
        return True

    async def _count(self, waited: float) -> None:
        """Add a wait to the counters of the whole deployment, which the metrics show."""
        with suppress(RedisError):
            await self._redis.hincrby(COUNTERS_KEY, HOST_WAITS, 1)
            await self._redis.hincrbyfloat(COUNTERS_KEY, HOST_WAIT_SECONDS, waited)

    async def _leave(self, key: str, token: str, pause: float) -> None:
        try:
            with pause_deadline():  # a slow broker must not count against the server
                await self._redis.eval(_LEAVE, 1, key, token, str(_milliseconds(pause)))
        except RedisError as error:
            get_log().warning("host_pacing_not_shared", error=type(error).__name__)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
