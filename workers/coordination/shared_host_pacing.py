"""Courtesy between processes: one visitor per host in the whole deployment, kept as leases in Redis."""

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

# Longest wait before a host that another process visits is asked for again.
_POLL_SECONDS: Final = 1.0
# How long nothing is heard of Redis before it counts as lost: each process goes on politely on its own then.
_SILENCE_SECONDS: Final = 3.0
# A call takes a millisecond, so few connections serve thousands of visits; whoever finds none free waits for one.
_CONNECTIONS: Final = 64
# Turns the lease of a finished visit into the gap before the next one, or the pause that the host asked for, unless it
# has become somebody else's.
_LEAVE: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then return redis.call('pexpire', KEYS[1], ARGV[2]) end
return redis.call('del', KEYS[1])
"""


def open_shared_pool(url: str) -> BlockingConnectionPool:
    """Connections for everything that visits share: never too many, and none that waits for ever."""
    return BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        socket_timeout=_SILENCE_SECONDS,
        socket_connect_timeout=_SILENCE_SECONDS,
    )


class SharedHostPacing(HostRateLimiter):
    """As `Courtesy`, and across processes for visits.

    A lease ends by itself after `longest_visit` seconds, so a dead worker blocks a host no longer. Without Redis each
    process is polite on its own: losing the leases costs at most one gap per process.
    """

    def __init__(
        self, redis: Redis, *, longest_visit: float, gap: float = REQUEST_GAP, budgets: RequestBudgets | None = None
    ) -> None:
        super().__init__(gap=gap, budgets=budgets)
        self._redis = redis
        self._longest_visit = longest_visit

    @asynccontextmanager
    async def reserve_host(self, host: str) -> AsyncIterator[None]:
        """Be the only visitor of a host, so that a probe's own deadline does not run while it queues."""
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
        """Wait for the lease; False when Redis cannot be asked."""
        began, waited = asyncio.get_running_loop().time(), False
        try:
            while not await self._redis.set(key, token, nx=True, px=_milliseconds(self._longest_visit)):
                waited = True
                left = await self._redis.pttl(key)
                await asyncio.sleep(min(max(left, 1) / 1000, _POLL_SECONDS))
        except RedisError as error:
            get_log().warning("courtesy_not_shared", error=type(error).__name__)
            return False
        if waited:
            await self._count(asyncio.get_running_loop().time() - began)
        return True

    async def _count(self, waited: float) -> None:
        """Add a wait to the sums of the whole deployment, which the metrics show."""
        with suppress(RedisError):
            await self._redis.hincrby(COUNTERS_KEY, HOST_WAITS, 1)
            await self._redis.hincrbyfloat(COUNTERS_KEY, HOST_WAIT_SECONDS, waited)

    async def _leave(self, key: str, token: str, pause: float) -> None:
        try:
            with pause_deadline():  # a broker that is silent is no server's doing
                await self._redis.eval(_LEAVE, 1, key, token, str(_milliseconds(pause)))
        except RedisError as error:
            get_log().warning("courtesy_not_shared", error=type(error).__name__)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
