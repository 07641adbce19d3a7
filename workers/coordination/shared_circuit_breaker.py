"""Which hosts did not answer, between processes: kept in Redis, for `workers.coordination.circuit_breaker`."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from workers.coordination.circuit_breaker import LocalHostFailures

_REMEMBERED: Final = timedelta(hours=6)


class SharedHostFailures:
    """The silence that all workers met, kept in Redis; without Redis each process knows its own."""

    def __init__(self, redis: Redis, own: LocalHostFailures) -> None:
        self._redis = redis
        self._own = own

    async def failed(self, host: str) -> None:
        await self._own.failed(host)
        with suppress(RedisError):
            number = await self._redis.incr(_count_key(host))
            await self._redis.expire(_count_key(host), _REMEMBERED)
            if number >= self._own.most:
                await self._redis.set(_rest_key(host), number, px=self._own.rest)

    async def answered(self, host: str) -> None:
        await self._own.answered(host)
        with suppress(RedisError):
            await self._redis.delete(_count_key(host), _rest_key(host))

    async def rests(self, host: str) -> bool:
        """True until the rest is over, as all know it or, without Redis, this process."""
        try:
            return bool(await self._redis.exists(_rest_key(host)))
        except RedisError:
            return await self._own.rests(host)


def _count_key(host: str) -> str:
    return f"hallmark:silent:{host}"


def _rest_key(host: str) -> str:
    return f"hallmark:resting:{host}"
