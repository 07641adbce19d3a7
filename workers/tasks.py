"""The Celery tasks: thin, with ids only. What they do is in `workers.nightly`; what is done is in rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from evidence.store import StoreUnavailable
from workers import nightly, schedule
from workers.broker import CeleryQueues, turn
from workers.celery_app import app, settings
from workers.context import Context, open_context
from workers.loop import run_loop

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
def plan_run() -> None:
    """Create, discover and plan the nightly run that is due, unless that is done or being done."""
    _do(lambda ctx: nightly.plan_due(ctx, turn(settings())))


@_task(schedule.SWEEP)
def sweep() -> None:
    """Issue tasks for what is due."""
    _do(lambda ctx: nightly.sweep(ctx, CeleryQueues(app, settings())))


@_task(schedule.PROBE_SHARD, **_RETRY)
def probe_shard(run_id: str) -> None:
    """Collect from leased servers of a run until none is left."""
    _do(lambda ctx: nightly.probe_shard(ctx, run_id))


@_task(schedule.SCORE_SHARD, **_RETRY)
def score_shard(run_id: str) -> None:
    """Score leased servers of a run until none is left."""
    _do(lambda ctx: nightly.score_shard(ctx, run_id))


@_task(schedule.PUBLISH_RUN, **_RETRY)
def publish_run(run_id: str) -> None:
    """Publish a run."""
    _do(lambda ctx: nightly.publish_run(ctx, run_id))


def _do(step: Step) -> None:
    async def main() -> None:
        async with open_context(settings(), migrate=False) as ctx:
            await step(ctx)

    run_loop(main())
