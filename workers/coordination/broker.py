"""What the steps ask of Redis besides tasks: how long a queue is, and whose turn a step is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError

from workers.settings.environment import Settings

if TYPE_CHECKING:
    from celery import Celery

LOCK_SECONDS = 15.0
_ENDLESS = -1  # what Redis says of a key without an end


class TaskLock(Protocol):
    """Lets one process at a time do a named thing; yields False to the others, who leave it alone."""

    def __call__(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Hold the turn while inside, when it was free."""


class TaskQueues(Protocol):
    """Where tasks are put."""

    def issue(self, task: str, run_id: str) -> None: ...

    def waiting(self, queue: str) -> int:
        """Messages of a queue that no worker has taken."""


def make_task_lock(settings: Settings) -> TaskLock:
    """Turns kept in Redis. They end soon after their holder dies; losing them costs idempotent work done twice."""

    @asynccontextmanager
    async def take(name: str) -> AsyncIterator[bool]:
        async with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
            lock = redis.lock(f"hallmark:turn:{name}", timeout=LOCK_SECONDS, blocking=False)
            if not await _acquire(redis, lock):
                yield False
                return
            renewing = asyncio.create_task(_renew(lock))
            try:
                yield True
            finally:
                renewing.cancel()
                with contextlib.suppress(LockError):  # lost meanwhile, which is harmless
                    await lock.release()

    return take


async def _acquire(redis: Redis, lock: Lock) -> bool:
    """Whether it is our turn. One that would never end is nobody's: ours all do, but not what a hand has left."""
    if await lock.acquire():
        return True
    if await redis.pttl(lock.name) != _ENDLESS:
        return False
    await redis.delete(lock.name)
    return bool(await lock.acquire())


async def _renew(lock: Lock) -> None:
    while True:
        await asyncio.sleep(LOCK_SECONDS / 3)
        await lock.reacquire()


class CeleryTaskQueues:
    """The queues of the Celery application."""

    def __init__(self, app: Celery, settings: Settings) -> None:
        self._app = app
        self._url = settings.redis_url.get_secret_value()
        self._expires = settings.visibility_timeout.total_seconds()

    def issue(self, task: str, run_id: str) -> None:
        self._app.send_task(task, args=[run_id], expires=self._expires)

    def waiting(self, queue: str) -> int:
        # kombu keeps a queue's messages without priority in a list of that name.
        with SyncRedis.from_url(self._url) as redis:
            return int(redis.llen(queue))
