"""The Celery tasks: thin, with ids only. What they do is in `workers.nightly`; what is done is in rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from kombu.exceptions import OperationalError
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from crawler.courtesy import LONGEST_PAUSE
from evidence.store import StoreUnavailable
from workers import advisories, closing, nightly, retest_runs, schedule, shards
from workers.broker import CeleryQueues, turn
from workers.celery_app import app, is_stopping, settings
from workers.clock import clock_at
from workers.context import Context, open_context
from workers.loop import run_loop
from workers.outside import Network
from workers.shared_courtesy import SharedCourtesy

# The only errors that are worth a second try: our database or our broker was away.
INFRASTRUCTURE = (StoreUnavailable, OperationalError, RedisConnectionError, RedisTimeoutError)

Step: TypeAlias = Callable[[Context], Awaitable[object]]
Body: TypeAlias = Callable[..., None]

_RETRY: dict[str, Any] = {
    "autoretry_for": INFRASTRUCTURE,
    "max_retries": 8,
    "retry_backoff": 1,
    "retry_backoff_max": 60,
    "retry_jitter": True,
}


def _task(name: str, **options: Any) -> Callable[[Body], Body]:
    """`app.task` with a type."""
    return cast("Callable[[Body], Body]", app.task(name=name, **options))


@_task(schedule.PLAN_RUN)
def plan_run(_started: str = "") -> None:
    """Create the nightly run that is due; discover and plan it and those that were started by hand."""
    _do(lambda ctx: nightly.plan_due(ctx, turn(settings())), migrate=True)


@_task(schedule.LIGHT_CHECK)
def light_check() -> None:
    """Connect once to the remotes that are due, unless another worker is at it."""
    _do(lambda ctx: nightly.light_check(ctx, turn(settings()), is_stopping))


@_task(schedule.REFRESH_ADVISORIES)
def refresh_advisories() -> None:
    """Bring this machine's mirror of advisories up to date when that is due."""
    run_loop(advisories.keep_fresh(settings(), clock_at(settings().clock)))


@_task(schedule.SWEEP)
def sweep() -> None:
    """Issue tasks for what is due."""
    _do(lambda ctx: nightly.sweep(ctx, CeleryQueues(app, settings())))


@_task(schedule.PROBE_SHARD, **_RETRY)
def probe_shard(run_id: str) -> None:
    """Collect from leased servers of a run until none is left."""
    _do(lambda ctx: shards.probe_shard(ctx, run_id, is_stopping))


@_task(schedule.SCORE_SHARD, **_RETRY)
def score_shard(run_id: str) -> None:
    """Score leased servers of a run until none is left."""
    _do(lambda ctx: shards.score_shard(ctx, run_id, is_stopping))


@_task(schedule.ADMIT_RETESTS)
def admit_retests() -> None:
    """Admit the re-tests whose time has come."""
    _do(lambda ctx: retest_runs.admit_due(ctx, CeleryQueues(app, settings())))


@_task(schedule.RETEST_ONE, **_RETRY)
def retest(retest_id: str) -> None:
    """Look at one server again, for somebody who asked for it."""
    _do(lambda ctx: retest_runs.run_one(ctx, retest_id, is_stopping))


@_task(schedule.PUBLISH_RUN, **_RETRY)
def publish_run(run_id: str) -> None:
    """Publish a run."""
    _do(lambda ctx: closing.publish_run(ctx, run_id))


def _do(step: Step, *, migrate: bool = False) -> None:
    async def main() -> None:
        mine = settings()
        async with Redis.from_url(mine.redis_url.get_secret_value()) as redis:
            # Everything that a visit may take: its own time, and the longest time it may be told to wait.
            longest = mine.server_timeout + LONGEST_PAUSE
            courtesy = SharedCourtesy(redis, longest_visit=longest, gap=mine.host_gap)
            network = Network(mine, clock_at(mine.clock), courtesy=courtesy, spread=True)
            async with open_context(mine, outside=network, migrate=migrate) as ctx:
                await step(ctx)

    run_loop(main())
