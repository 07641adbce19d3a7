"""The Celery tasks: thin, with ids only. What they do is in `workers.nightly`; what is done is in rows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from kombu.exceptions import OperationalError
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from crawler.courtesy import LONGEST_PAUSE
from evidence.store import Stage, StoreUnavailable
from workers import (
    advisories,
    claims,
    closing,
    compacting,
    datasets,
    installed,
    nightly,
    notices,
    retest_runs,
    schedule,
    shards,
)
from workers.breaking import OwnSilence, Silence
from workers.broker import CeleryQueues, turn
from workers.budgets import request_budgets
from workers.celery_app import app, is_stopping, settings
from workers.clock import clock_at
from workers.context import Context, open_context
from workers.loop import run_loop
from workers.outside import Network
from workers.shared_budgets import SharedLedger
from workers.shared_courtesy import SharedCourtesy, shared_pool
from workers.shared_quota import SharedBudgets
from workers.shared_silence import SharedSilence
from workers.stopping import Stopping, soft_limit_heard

# The only errors that are worth a second try: our database or our broker was away.
INFRASTRUCTURE = (StoreUnavailable, OperationalError, RedisConnectionError, RedisTimeoutError)


@dataclass(frozen=True, slots=True)
class Task:
    """What a step is told of the task it runs in: whether it has to end, and which hosts do not answer."""

    stopping: Stopping
    silence: Silence


Step: TypeAlias = Callable[[Context, Task], Awaitable[object]]
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
    _do(lambda ctx, _: nightly.plan_due(ctx, turn(settings())), migrate=True)


@_task(schedule.LIGHT_CHECK)
def light_check() -> None:
    """Connect once to the remotes that are due, unless another worker is at it."""
    _do(lambda ctx, task: nightly.light_check(ctx, turn(settings()), task.stopping))


@_task(schedule.REFRESH_ADVISORIES)
def refresh_advisories() -> None:
    """Bring this machine's mirror of advisories up to date when that is due."""
    run_loop(advisories.keep_fresh(settings(), clock_at(settings().clock)))


@_task(schedule.COMPACT)
def compact() -> None:
    """Keep less of old nights. It may be killed anywhere, and called twice."""
    keep = settings().keep_whole
    _do(lambda ctx, _: asyncio.to_thread(compacting.compact, ctx.store, ctx.clock, keep))


@_task(schedule.EVICT)
def evict() -> None:
    """Make room among this machine's installed packages and images. It may be killed anywhere, and called twice."""
    run_loop(installed.keep_room(settings(), clock_at(settings().clock)))


@_task(schedule.EXPORT_DATASETS)
def export_datasets() -> None:
    """Write the newest published night as a dataset, unless it is there or another worker is at it."""
    _do(lambda ctx, _: datasets.keep_current(ctx, turn(settings())))


@_task(schedule.SWEEP)
def sweep() -> None:
    """Issue tasks for what is due."""
    _do(lambda ctx, _: nightly.sweep(ctx, CeleryQueues(app, settings())))


@_task(schedule.PROBE_SHARD, **_RETRY)
def probe_shard(run_id: str) -> None:
    """Look at leased servers that have remotes only until none is left."""
    _collect(run_id, Stage.PROBE)


@_task(schedule.SANDBOX_SHARD, **_RETRY)
def sandbox_shard(run_id: str) -> None:
    """Look at leased servers that have packages until none is left."""
    _collect(run_id, Stage.SANDBOX)


@_task(schedule.GITHUB_SHARD, **_RETRY)
def github_shard(run_id: str) -> None:
    """Look at the repositories of leased servers until none is left."""
    _collect(run_id, Stage.GITHUB)


@_task(schedule.SCAN_SHARD, **_RETRY)
def scan_shard(run_id: str) -> None:
    """Read the source of leased servers until none is left."""
    _collect(run_id, Stage.SCAN)


@_task(schedule.SCORE_SHARD, **_RETRY)
def score_shard(run_id: str) -> None:
    """Score leased servers of a run until none is left."""
    _do(lambda ctx, task: shards.score_shard(ctx, run_id, task.stopping))


@_task(schedule.ADMIT_RETESTS)
def admit_retests() -> None:
    """Admit the re-tests whose time has come, and probe in full after those that are done."""
    _do(lambda ctx, _: retest_runs.keep_up(ctx, CeleryQueues(app, settings())))


@_task(schedule.RETEST_ONE, **_RETRY)
def retest(retest_id: str) -> None:
    """Look at one server again, for somebody who asked for it."""
    _do(lambda ctx, task: retest_runs.run_one(ctx, retest_id, task.stopping))


@_task(schedule.CHECK_CLAIMS)
def check_claims() -> None:
    """Look for the proofs of control that are due."""
    _do(lambda ctx, _: claims.check_due(ctx))


@_task(schedule.SEND_NOTICES)
def send_notices() -> None:
    """Tell whoever asked for it of changed scores."""
    _do(lambda ctx, _: notices.tell(ctx))


@_task(schedule.PUBLISH_RUN, **_RETRY)
def publish_run(run_id: str) -> None:
    """Publish a run."""
    _do(lambda ctx, _: closing.publish_run(ctx, run_id))


def _collect(run_id: str, stage: Stage) -> None:
    _do(lambda ctx, task: shards.collect_shard(ctx, run_id, stage, task.stopping, task.silence))


def _do(step: Step, *, migrate: bool = False) -> None:
    async def main() -> None:
        mine = settings()
        clock = clock_at(mine.clock)
        own = OwnSilence(clock, mine.host_failures, mine.host_rest)
        with soft_limit_heard() as is_over:
            async with Redis.from_pool(shared_pool(mine.redis_url.get_secret_value())) as redis:
                # Everything that a visit may take: its own time, and the longest time it may be told to wait.
                longest = mine.server_timeout + LONGEST_PAUSE
                ledger = SharedLedger(redis, clock.monotonic)
                requests = request_budgets(mine, ledger, clock.now)
                courtesy = SharedCourtesy(redis, longest_visit=longest, gap=mine.host_gap, budgets=requests)
                network = Network(mine, clock, courtesy=courtesy, budgets=SharedBudgets(redis), spread=True)
                async with open_context(mine, outside=network, migrate=migrate) as ctx:
                    await step(ctx, Task(lambda: is_stopping() or is_over(), SharedSilence(redis, own)))
                await ledger.flush()

    run_loop(main())
