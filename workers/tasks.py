"""The Celery tasks. Arguments are ids only; the work is in `workers.nightly.steps`, progress is in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from kombu.exceptions import OperationalError
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from crawler.http.rate_limiting import MAX_PAUSE
from evidence.store import Stage, StoreUnavailable
from workers import retention, schedule
from workers.celery_app import app, is_stopping, worker_settings
from workers.clock import clock_at
from workers.community import claims, notifications
from workers.context import Context, open_context
from workers.coordination.broker import CeleryTaskQueues, make_task_lock
from workers.coordination.circuit_breaker import HostFailures, LocalHostFailures
from workers.coordination.shared_circuit_breaker import SharedHostFailures
from workers.coordination.shared_github_quota import SharedGitHubBudgets
from workers.coordination.shared_host_pacing import SharedHostPacing, open_shared_pool
from workers.coordination.shared_request_budgets import SharedRequestLedger
from workers.event_loop import run_coroutine
from workers.nightly import closing, shards, steps
from workers.publication import dataset_snapshots
from workers.retests import execution
from workers.runs.pins import digest_pins
from workers.shutdown import IsStopping, open_halt, watch_soft_limit
from workers.wiring import advisory_mirror, package_cache
from workers.wiring.network import NetworkWiring
from workers.wiring.request_budgets import build_request_budgets

# Only these errors are retried: our database or our broker was unavailable.
INFRASTRUCTURE = (StoreUnavailable, OperationalError, RedisConnectionError, RedisTimeoutError)


class TaskSignals(Struct, frozen=True):
    """What a step needs from its task: whether it has to end, and the hosts that do not answer."""

    stopping: IsStopping
    host_failures: HostFailures


Step: TypeAlias = Callable[[Context, TaskSignals], Awaitable[object]]
TaskBody: TypeAlias = Callable[..., None]

_RETRY: dict[str, Any] = {
    "autoretry_for": INFRASTRUCTURE,
    "max_retries": 8,
    "retry_backoff": 1,
    "retry_backoff_max": 60,
    "retry_jitter": True,
}


def _task(name: str, **options: Any) -> Callable[[TaskBody], TaskBody]:
    return cast("Callable[[TaskBody], TaskBody]", app.task(name=name, **options))


@_task(schedule.PLAN_RUN)
def plan_run(known: str = "") -> None:
    """Create the nightly run that is due and plan the runs of this version; only plan them when asked for a `known`."""

    async def plan(ctx: Context, task: TaskSignals) -> None:
        if not known:
            await steps.forward_planning(ctx, _open_queues)
        await steps.plan_due_runs(ctx, make_task_lock(worker_settings()), task.stopping, only_known=bool(known))

    _do(plan, migrate=True)


@_task(schedule.SAMPLE_AVAILABILITY)
def sample_availability() -> None:
    """Connect once to the remotes that are due, unless another worker does."""
    _do(lambda ctx, task: steps.sample_availability(ctx, make_task_lock(worker_settings()), task.stopping))


@_task(schedule.REFRESH_ADVISORIES)
def refresh_advisories() -> None:
    """Refresh this machine's advisory mirror when that is due."""
    run_coroutine(advisory_mirror.refresh_when_due(worker_settings(), clock_at(worker_settings().clock)))


@_task(schedule.COMPACT_RUNS)
def compact() -> None:
    """Compact old runs. The task may be killed at any time and called twice."""
    keep = worker_settings().keep_whole
    _do(lambda ctx, _: asyncio.to_thread(retention.compact_runs, ctx.store, ctx.clock, keep))


@_task(schedule.EVICT_PACKAGES)
def evict() -> None:
    """Evict unused packages and images of this machine. The task may be killed at any time and called twice."""
    run_coroutine(package_cache.evict_unused_packages(worker_settings(), clock_at(worker_settings().clock)))


@_task(schedule.EXPORT_DATASETS)
def export_datasets(written_run: str = "") -> None:
    """Export the newest published nightly run, unless it was done or another worker does.

    The worker that wrote the last part of a run asks for it (`written_run`).
    """
    _do(
        lambda ctx, _: dataset_snapshots.write_current_snapshot(
            ctx, make_task_lock(worker_settings()), _open_queues(digest_pins(ctx.pins))
        )
    )


@_task(schedule.EXPORT_PARTS, **_RETRY)
def export_parts(run_id: str) -> None:
    """Write parts of the dataset of a run until none is free."""

    async def write(ctx: Context, task: TaskSignals) -> None:
        async with open_halt(task.stopping, ctx.settings.shard_time) as halt:
            queues = _open_queues(digest_pins(ctx.pins))
            await dataset_snapshots.write_parts(ctx, run_id, halt, make_task_lock(worker_settings()), queues)

    _do(write)


@_task(schedule.SWEEP)
def sweep(asked_version: str = "") -> None:
    """Issue the tasks that are due. A worker of another version may ask this one for it by `asked_version`."""
    _do(lambda ctx, _: steps.issue_due_tasks(ctx, _open_queues, forward=not asked_version))


@_task(schedule.PROBE_SHARD, **_RETRY)
def probe_shard(run_id: str) -> None:
    """Collect leased servers that have only remotes until none is left."""
    _collect(run_id, Stage.PROBE)


@_task(schedule.SANDBOX_SHARD, **_RETRY)
def sandbox_shard(run_id: str) -> None:
    """Collect leased servers that have packages until none is left."""
    _collect(run_id, Stage.SANDBOX)


@_task(schedule.GITHUB_SHARD, **_RETRY)
def github_shard(run_id: str) -> None:
    """Collect the repositories of leased servers until none is left."""
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
    """Admit the re-tests that are due, and advance the full probes of finished ones."""
    _do(lambda ctx, _: execution.advance_retests(ctx, _open_queues(digest_pins(ctx.pins))))


@_task(schedule.RUN_RETEST, **_RETRY)
def retest(retest_id: str) -> None:
    _do(lambda ctx, task: execution.run_retest(ctx, retest_id, task.stopping))


@_task(schedule.CHECK_CLAIMS)
def check_claims() -> None:
    """Check the proofs of control that are due."""
    _do(lambda ctx, _: claims.check_due_claims(ctx))


@_task(schedule.SEND_NOTICES)
def send_notices() -> None:
    """Send webhooks of changed scores."""
    _do(lambda ctx, _: notifications.send_notifications(ctx))


@_task(schedule.PUBLISH_RUN, **_RETRY)
def publish_run(run_id: str) -> None:
    """End a run: publish, withhold or abandon it. The next task continues a publication that takes longer."""

    async def publish(ctx: Context, task: TaskSignals) -> None:
        async with open_halt(task.stopping, ctx.settings.shard_time) as halt:
            await closing.publish_run(ctx, run_id, halt, _open_queues(digest_pins(ctx.pins)))

    _do(publish)


@_task(schedule.PUBLISH_PARTS, **_RETRY)
def publish_parts(run_id: str) -> None:
    """Write parts of a run that is being published until none is free."""

    async def write(ctx: Context, task: TaskSignals) -> None:
        async with open_halt(task.stopping, ctx.settings.shard_time) as halt:
            await closing.publish_parts(ctx, run_id, halt)

    _do(write)


def _open_queues(version: str) -> CeleryTaskQueues:
    return CeleryTaskQueues(app, worker_settings(), version)


def _collect(run_id: str, stage: Stage) -> None:
    _do(lambda ctx, task: shards.collect_shard(ctx, run_id, stage, task.stopping, task.host_failures))


def _do(step: Step, *, migrate: bool = False) -> None:
    async def main() -> None:
        mine = worker_settings()
        clock = clock_at(mine.clock)
        own = LocalHostFailures(clock, mine.host_failures, mine.host_rest)
        with watch_soft_limit() as is_over:
            async with Redis.from_pool(open_shared_pool(mine.redis_url.reveal())) as redis:
                # A visit takes at most its own time limit and the longest pause that a host may ask for.
                longest = mine.server_timeout + MAX_PAUSE
                ledger = SharedRequestLedger(redis, clock.monotonic)
                requests = build_request_budgets(mine, ledger, clock.now)
                pacing = SharedHostPacing(redis, longest_visit=longest, gap=mine.host_gap, budgets=requests)
                network = NetworkWiring(
                    mine, clock, rate_limiter=pacing, budgets=SharedGitHubBudgets(redis), spread=True
                )
                async with open_context(mine, wiring=network, migrate=migrate) as ctx:
                    await step(ctx, TaskSignals(lambda: is_stopping() or is_over(), SharedHostFailures(redis, own)))
                await ledger.flush()

    run_coroutine(main())
