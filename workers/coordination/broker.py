"""Locks in Redis, so that one worker at a time does a step, and the Celery queues with their lengths."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from kombu.entity import Exchange, Queue
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from workers.log import get_log
from workers.schedule import TASK_QUEUES, name_version_queue
from workers.settings.environment import Settings

if TYPE_CHECKING:
    from celery import Celery

LOCK_SECONDS = 15.0
_NO_EXPIRY = -1  # the answer of PTTL for a key that does not expire


class TaskLock(Protocol):
    """A lock per name: the context is True for the one process that holds it, False for the others."""

    def __call__(self, name: str) -> AbstractAsyncContextManager[bool]: ...


class TaskQueues(Protocol):
    """Issues tasks to the workers of one version, and reports how many wait."""

    def issue(self, task: str, argument: str) -> None: ...

    def waiting(self, queue: str) -> int:
        """Number of messages of a queue that no worker has taken."""


def make_task_lock(settings: Settings) -> TaskLock:
    """Locks in Redis. They expire soon after their holder dies; a lost lock only repeats idempotent work."""

    @asynccontextmanager
    async def take(name: str) -> AsyncIterator[bool]:
        async with Redis.from_url(settings.redis_url.reveal()) as redis:
            lock = redis.lock(f"hallmark:turn:{name}", timeout=LOCK_SECONDS, blocking=False)
            if not await _acquire(redis, lock):
                yield False
                return
            renewing = asyncio.create_task(_renew(lock))
            try:
                yield True
            finally:
                renewing.cancel()
                with contextlib.suppress(LockError):  # the lock expired meanwhile, which is harmless
                    await lock.release()

    return take


async def _acquire(redis: Redis, lock: Lock) -> bool:
    """Whether the lock was free. A lock without expiry was not set by us (all ours expire) and is deleted."""
    if await lock.acquire():
        return True
    if await redis.pttl(lock.name) != _NO_EXPIRY:
        return False
    await redis.delete(lock.name)
    return bool(await lock.acquire())


async def _renew(lock: Lock) -> None:
    """Renew a lock until it was lost; other errors are logged, and it is tried again."""
    goes_on = True
    while goes_on:
        await asyncio.sleep(LOCK_SECONDS / 3)
        try:
            goes_on = await lock.reacquire()
        except LockError:
            return
        except (RedisError, OSError) as error:
            get_log().warning("lock_not_renewed", lock=str(lock.name), error=type(error).__name__)


def make_queue(name: str) -> Queue:
    """A queue of Celery. Without a routing key of its own, every queue would get a copy of every message."""
    return Queue(name, Exchange("hallmark", type="direct"), routing_key=name)  # type: ignore[no-untyped-call]


class CeleryTaskQueues:
    """The parts of the Celery application's queues that workers of one version take."""

    def __init__(self, app: Celery, settings: Settings, version: str) -> None:
        self._app = app
        self._url = settings.redis_url.reveal()
        self._expires = settings.visibility_timeout.total_seconds()
        self._version = version

    def issue(self, task: str, argument: str) -> None:
        queue = make_queue(name_version_queue(TASK_QUEUES[task], self._version))
        self._app.send_task(task, args=[argument], queue=queue, expires=self._expires)

    def waiting(self, queue: str) -> int:
        # kombu keeps a queue's messages without priority in a list of that name.
        with SyncRedis.from_url(self._url) as redis:
            return int(redis.llen(name_version_queue(queue, self._version)))
