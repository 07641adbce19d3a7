"""Host failures shared between processes in Redis, for `workers.coordination.circuit_breaker`."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from workers.coordination.circuit_breaker import MAX_HOSTS, LocalHostFailures

_COUNT_LIFETIME: Final = timedelta(hours=6)


class SharedHostFailures:
    """Host failures of all workers, in Redis; while Redis is unavailable each process uses its own counts."""

    def __init__(self, redis: Redis, own: LocalHostFailures) -> None:
        self._redis = redis
        self._own = own
        self._failing: dict[str, None] = {}

    async def record_failure(self, host: str) -> None:
        await self._own.record_failure(host)
        self._note_failing(host)
        with suppress(RedisError):
            number = await self._redis.incr(_count_key(host))
            await self._redis.expire(_count_key(host), _COUNT_LIFETIME)
            if number >= self._own.max_failures:
                await self._redis.set(_rest_key(host), number, px=self._own.pause)

    async def record_answer(self, host: str) -> None:
        """Forget the failures of a host. Redis is not asked about a host that had none when its visit began."""
        await self._own.record_answer(host)
        if host not in self._failing:
            return
        del self._failing[host]
        with suppress(RedisError):
            await self._redis.delete(_count_key(host), _rest_key(host))

    async def is_paused(self, host: str) -> bool:
        try:
            failures, rest = await self._redis.mget(_count_key(host), _rest_key(host))
        except RedisError:
            self._note_failing(host)
            return await self._own.is_paused(host)
        if failures is not None:
            self._note_failing(host)
        return rest is not None

    def _note_failing(self, host: str) -> None:
        """Remember a host until it answers, or until MAX_HOSTS others were noted after it.

        Every visit begins with `is_paused`, so a host in visit is never the oldest.
        """
        self._failing.pop(host, None)
        self._failing[host] = None
        if len(self._failing) > MAX_HOSTS:
            del self._failing[next(iter(self._failing))]


def _count_key(host: str) -> str:
    return f"hallmark:silent:{host}"


def _rest_key(host: str) -> str:
    return f"hallmark:resting:{host}"
