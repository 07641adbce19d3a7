"""The beat table, and which nightly run is due: the slot names the run, so asking twice changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from evidence.store import Stage
from workers.settings.environment import Settings

PLAN_RUN: Final = "hallmark.plan_run"
SWEEP: Final = "hallmark.sweep"
PROBE_SHARD: Final = "hallmark.probe_shard"
SANDBOX_SHARD: Final = "hallmark.sandbox_shard"
GITHUB_SHARD: Final = "hallmark.github_shard"
SCAN_SHARD: Final = "hallmark.scan_shard"
SCORE_SHARD: Final = "hallmark.score_shard"
PUBLISH_RUN: Final = "hallmark.publish_run"
LIGHT_CHECK: Final = "hallmark.light_check"
REFRESH_ADVISORIES: Final = "hallmark.refresh_advisories"
COMPACT_RUNS: Final = "hallmark.compact"
EVICT_PACKAGES: Final = "hallmark.evict"
EXPORT_DATASETS: Final = "hallmark.export_datasets"
ADMIT_RETESTS: Final = "hallmark.admit_retests"
RUN_RETEST: Final = "hallmark.retest"
CHECK_CLAIMS: Final = "hallmark.check_claims"
SEND_NOTICES: Final = "hallmark.send_notices"

PROBE_QUEUE: Final = "probe"
SANDBOX_QUEUE: Final = "sandbox"
GITHUB_QUEUE: Final = "github"
SCAN_QUEUE: Final = "scan"
SCORE_QUEUE: Final = "score"
PUBLISH_QUEUE: Final = "publish"
RETEST_QUEUE: Final = "retest"

# Queues follow scarce resources (docs/decisions/0027).
QUEUES: Final = (PROBE_QUEUE, GITHUB_QUEUE, SCAN_QUEUE, SANDBOX_QUEUE, SCORE_QUEUE, PUBLISH_QUEUE, RETEST_QUEUE)

TASK_QUEUES: Final = {
    PLAN_RUN: PROBE_QUEUE,
    PROBE_SHARD: PROBE_QUEUE,
    SANDBOX_SHARD: SANDBOX_QUEUE,
    EVICT_PACKAGES: SANDBOX_QUEUE,
    GITHUB_SHARD: GITHUB_QUEUE,
    SCAN_SHARD: SCAN_QUEUE,
    LIGHT_CHECK: PROBE_QUEUE,
    REFRESH_ADVISORIES: PROBE_QUEUE,
    SCORE_SHARD: SCORE_QUEUE,
    COMPACT_RUNS: SCORE_QUEUE,
    SWEEP: PUBLISH_QUEUE,
    PUBLISH_RUN: PUBLISH_QUEUE,
    EXPORT_DATASETS: PUBLISH_QUEUE,
    ADMIT_RETESTS: RETEST_QUEUE,
    RUN_RETEST: RETEST_QUEUE,
    CHECK_CLAIMS: RETEST_QUEUE,
    SEND_NOTICES: RETEST_QUEUE,
}


SHARD_TASKS: Final[Mapping[Stage, str]] = {
    Stage.PROBE: PROBE_SHARD,
    Stage.SANDBOX: SANDBOX_SHARD,
    Stage.GITHUB: GITHUB_SHARD,
    Stage.SCAN: SCAN_SHARD,
    Stage.SCORE: SCORE_SHARD,
}
"""The task that takes a share of a stage."""

_ABOUT_A_RUN: Final = {PLAN_RUN, PUBLISH_RUN, *SHARD_TASKS.values()}
_STAGES: Final = {task: stage for stage, task in SHARD_TASKS.items()}

LONG_TASKS: Final = (PLAN_RUN, PUBLISH_RUN, REFRESH_ADVISORIES, COMPACT_RUNS, EXPORT_DATASETS)
"""Tasks that work on a whole run, or on all advisories or nights there are."""


def build_beat_table(settings: Settings) -> dict[str, dict[str, object]]:
    """What beat sends and how often. A message that no worker took before the next one is dropped."""
    table = {
        "plan-run": _entry(PLAN_RUN, settings.plan_every),
        "sweep": _entry(SWEEP, settings.sweep_every),
        "admit-retests": _entry(ADMIT_RETESTS, settings.retest_every),
    }
    if settings.light_every:
        table["light-check"] = _entry(LIGHT_CHECK, settings.plan_every)
    if settings.people_every:
        table["check-claims"] = _entry(CHECK_CLAIMS, settings.people_every)
        table["send-notices"] = _entry(SEND_NOTICES, settings.people_every)
    if settings.advisories_every:
        table["refresh-advisories"] = _entry(REFRESH_ADVISORIES, settings.advisories_every)
    if settings.datasets:
        table["export-datasets"] = _entry(EXPORT_DATASETS, settings.datasets_every)
    if settings.layers_size or settings.layers_unused:
        table["evict"] = _daily(EVICT_PACKAGES, settings)
    if settings.keep_whole:
        table["compact"] = _daily(COMPACT_RUNS, settings)
    return table


def find_due_slot(settings: Settings, now: datetime) -> datetime:
    """The newest nightly time that is not in the future; a beat that slept through it still finds it."""
    today = datetime.combine(now.astimezone(UTC).date(), settings.nightly_at.replace(tzinfo=UTC))
    return today if today <= now else today - timedelta(days=1)


def make_nightly_run_id(slot: datetime) -> str:
    """The id of the run of a slot, which sorts by time like every run id."""
    return f"{slot:%Y%m%dT%H%M%SZ}-nightly"


def describe_task(task: str, arguments: Sequence[object]) -> dict[str, str]:
    """What every event of a task carries: its name, and the run and the stage that it works on, where it has one."""
    told = {"task": task.removeprefix("hallmark.")}
    if task in _ABOUT_A_RUN and arguments and arguments[0]:
        told["run"] = str(arguments[0])
    return told | ({"stage": _STAGES[task].value} if task in _STAGES else {})


def _entry(task: str, every: timedelta) -> dict[str, object]:
    return {"task": task, "schedule": every, "options": {"queue": TASK_QUEUES[task], "expires": every.total_seconds()}}


def _daily(task: str, settings: Settings) -> dict[str, object]:
    """Half a day after a night is due: at a time, since beat forgets with its folder how long ago it sent something."""
    from celery.schedules import crontab  # noqa: PLC0415  who asks when a night is due needs no Celery

    at = crontab(minute=settings.nightly_at.minute, hour=(settings.nightly_at.hour + 12) % 24)
    return {**_entry(task, timedelta(days=1)), "schedule": at}
