"""Names of tasks and queues, the beat table, and the nightly run that is due, whose id follows from its due time.

A queue has a part per version: `probe.1a2b3c4d` holds the tasks of the runs whose pins have this digest. Only workers
of that version take them. The queue `probe` holds tasks about no run, which any worker takes.
"""

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
PUBLISH_PARTS: Final = "hallmark.publish_parts"
SAMPLE_AVAILABILITY: Final = "hallmark.sample_availability"
REFRESH_ADVISORIES: Final = "hallmark.refresh_advisories"
COMPACT_RUNS: Final = "hallmark.compact"
EVICT_PACKAGES: Final = "hallmark.evict"
EXPORT_DATASETS: Final = "hallmark.export_datasets"
EXPORT_PARTS: Final = "hallmark.export_parts"
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
    SAMPLE_AVAILABILITY: PROBE_QUEUE,
    REFRESH_ADVISORIES: PROBE_QUEUE,
    SCORE_SHARD: SCORE_QUEUE,
    COMPACT_RUNS: SCORE_QUEUE,
    PUBLISH_PARTS: SCORE_QUEUE,
    EXPORT_PARTS: SCORE_QUEUE,
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
"""The task that works on a shard of a stage."""

PLAN_ENTRY: Final = "plan-run"
SWEEP_ENTRY: Final = "sweep"

_ABOUT_A_RUN: Final = {PLAN_RUN, PUBLISH_RUN, PUBLISH_PARTS, EXPORT_PARTS, *SHARD_TASKS.values()}
_STAGES: Final = {task: stage for stage, task in SHARD_TASKS.items()}

LONG_TASKS: Final = (PUBLISH_RUN, REFRESH_ADVISORIES, COMPACT_RUNS, EXPORT_DATASETS)
"""Tasks that work on a whole run, on all runs or on all advisories."""


def build_beat_table(settings: Settings) -> dict[str, dict[str, object]]:
    """The messages that beat sends, and how often. A message expires when the next one is sent."""
    table = {
        PLAN_ENTRY: _entry(PLAN_RUN, settings.plan_every),
        SWEEP_ENTRY: _entry(SWEEP, settings.sweep_every),
        "admit-retests": _entry(ADMIT_RETESTS, settings.retest_every),
    }
    if settings.light_every:
        table["sample-availability"] = _entry(SAMPLE_AVAILABILITY, settings.plan_every)
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


def name_version_queue(queue: str, version: str) -> str:
    """The part of a queue for the runs of a version, which is the digest of their pins."""
    return f"{queue}.{version}"


def find_due_slot(settings: Settings, now: datetime) -> datetime:
    """The newest nightly time that is not in the future."""
    today = datetime.combine(now.astimezone(UTC).date(), settings.nightly_at.replace(tzinfo=UTC))
    return today if today <= now else today - timedelta(days=1)


def make_nightly_run_id(slot: datetime) -> str:
    """The id of the nightly run due at `slot`; like every run id it sorts by time."""
    return f"{slot:%Y%m%dT%H%M%SZ}-nightly"


def describe_task(task: str, arguments: Sequence[object]) -> dict[str, str]:
    """The log context of a task: its name, and its run and stage if it has them."""
    fields = {"task": task.removeprefix("hallmark.")}
    if task in _ABOUT_A_RUN and arguments and arguments[0]:
        fields["run"] = str(arguments[0])
    return fields | ({"stage": _STAGES[task].value} if task in _STAGES else {})


def _entry(task: str, every: timedelta) -> dict[str, object]:
    return {"task": task, "schedule": every, "options": {"queue": TASK_QUEUES[task], "expires": every.total_seconds()}}


def _daily(task: str, settings: Settings) -> dict[str, object]:
    """Once a day, half a day after the nightly run: a fixed time, because an interval restarts with beat's folder."""
    from celery.schedules import crontab  # noqa: PLC0415  find_due_slot is used without Celery

    at = crontab(minute=settings.nightly_at.minute, hour=(settings.nightly_at.hour + 12) % 24)
    return {**_entry(task, timedelta(days=1)), "schedule": at}
