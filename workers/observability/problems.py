"""Problems that an operator has to solve: what is wrong and what to do, derived from a status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from evidence.store import RunRow, RunState, Stage
from workers import schedule
from workers.coordination.broker_statistics import BrokerStatistics, WorkerQueues
from workers.nightly.actions import (
    BROKER_ACTION,
    DATABASE_ACTION,
    NEXT_REGISTRY_ACTION,
    NO_RUN_ACTION,
    NOT_ASKED_ACTION,
    OTHER_VERSION_ACTION,
    OVERLAP_ACTION,
    REGISTRY_ACTION,
    STANDSTILL_ACTION,
)
from workers.observability.run_statistics import RunStatistics, StoreStatistics
from workers.observability.status import SystemStatus, Unavailable
from workers.runs.pins import digest_pins

START_TIME: Final = timedelta(minutes=2)
"""How long the workers of a run may take to start before they are missing."""

STANDSTILL: Final = timedelta(minutes=15)
"""How long workers may hold servers of a run without finishing any; the longest visit of a package is shorter."""

NOT_ASKED_SHARE: Final = 0.01
"""Share of a run's servers that may be without a listing because we did not ask for it."""

_LONGEST_ERROR: Final = 300


class Problem(Struct, frozen=True):
    """One problem in words for an operator. `kind` is constant, for programs.

    It is not `open` when only the next run can be helped.
    """

    kind: str
    what: str
    action: str
    open: bool = True


def find_problems(status: SystemStatus) -> tuple[Problem, ...]:
    """All problems of a status, the most general first."""
    return tuple(_problems(status))


def _problems(status: SystemStatus) -> Iterator[Problem]:
    if isinstance(status.store, Unavailable):
        yield Problem("database_unavailable", status.store.why, DATABASE_ACTION)
    if isinstance(status.broker, Unavailable):
        yield Problem("broker_unavailable", status.broker.why, BROKER_ACTION)
    if status.is_overdue:
        what = f"the nightly run of {status.due:%Y-%m-%d %H:%M} UTC was not planned"
        yield Problem("night_missing", what, NO_RUN_ACTION)
    if isinstance(status.store, StoreStatistics):
        yield from _run_problems(status.store, status.at)
        if isinstance(status.broker, BrokerStatistics):
            yield from _worker_problems(status, status.store, status.broker)


def _run_problems(store: StoreStatistics, at: datetime) -> Iterator[Problem]:
    planned = {row.run.id for row in store.unfinished if row.state is not RunState.DISCOVERING}
    for run, walks in store.failed_walks.items():
        action = NEXT_REGISTRY_ACTION if run in planned else REGISTRY_ACTION
        for walk in walks:
            what = f"registry {walk.registry} could not be read for run {run}: {str(walk.error)[:_LONGEST_ERROR]}"
            yield Problem("registry_unavailable", what, action, open=run not in planned)
    if len(working := store.working_nights) > 1:
        names = ", ".join(row.run.id for row in working)
        what = f"{len(working)} nightly runs overlap and contact the same servers: {names}"
        yield Problem("nights_overlap", what, OVERLAP_ACTION)
    if (shown := store.shown) is not None:
        yield from _find_not_asked(shown)
        if shown.row.state.is_working:
            yield from _find_standstill(shown, at)


def _find_not_asked(shown: RunStatistics) -> Iterator[Problem]:
    """A run in which many servers have no listing because of a bound or a failure that says nothing about them."""
    servers, planned = sum(shown.not_asked.values()), max((stage.planned for stage in shown.stages), default=0)
    if servers > NOT_ASKED_SHARE * planned:
        why, most = max(shown.not_asked.items(), key=lambda item: (item[1], item[0]))
        what = f"{servers} of {planned} servers of run {shown.row.run.id} were not asked"
        yield Problem(
            "servers_not_asked", f"{what}, {most} because {why[:_LONGEST_ERROR]}", NOT_ASKED_ACTION, open=False
        )


def _find_standstill(shown: RunStatistics, at: datetime) -> Iterator[Problem]:
    """A run of which workers hold servers and finish none."""
    held = sum(stage.held for stage in shown.stages)
    moments = [stage.latest for stage in shown.stages if stage.latest] or [shown.row.planned_at or at]
    if held and at - max(moments) > STANDSTILL:
        minutes = (at - max(moments)).total_seconds() // 60
        what = (
            f"run {shown.row.run.id} stands still: {held} servers are held by workers, none done for {minutes:.0f} min"
        )
        yield Problem("run_stands_still", what, STANDSTILL_ACTION)


def _worker_problems(status: SystemStatus, store: StoreStatistics, broker: BrokerStatistics) -> Iterator[Problem]:
    """Runs that no worker can work on, and queues with work that no worker takes."""
    waiting = {queue.name: f"{queue.length} messages wait" for queue in broker.queues if queue.length}
    served = _list_served(broker.workers, "")
    unserved = {queue: why for queue, why in waiting.items() if queue not in served}
    for row in store.working_nights:
        if row.planned_at is not None and status.at - row.planned_at < START_TIME:
            continue
        of_version = _list_served(broker.workers, digest_pins(row.run.pins))
        if not of_version:
            what = f"run {row.run.id} waits: no worker has the versions of the code that planned it"
            yield Problem("no_worker_of_version", what, OTHER_VERSION_ACTION)
        elif store.shown is not None and row.run.id == store.shown.row.run.id:
            needed = _list_needed(row, store.shown)
            unserved |= {queue: why for queue, why in needed.items() if queue not in of_version}
    for queue, why in sorted(unserved.items()):
        command = f"start one: `celery -A workers.celery_app worker --queues {queue}`"
        yield Problem("queue_not_served", f"no worker takes tasks from the queue {queue}: {why}", command)


def _list_served(workers: WorkerQueues, version: str) -> frozenset[str]:
    """The queues whose part for a version a worker takes; the part for tasks about no run without a version."""
    taken = {queue for queues in workers.values() for queue in queues}
    names = {queue: schedule.name_version_queue(queue, version) if version else queue for queue in schedule.QUEUES}
    return frozenset(queue for queue, name in names.items() if name in taken)


def _list_needed(row: RunRow, shown: RunStatistics) -> Mapping[str, str]:
    """The queues that a run needs now, and why."""
    if row.state is RunState.DISCOVERING:
        return {schedule.PROBE_QUEUE: f"run {row.run.id} is not planned"}
    needed = {
        schedule.TASK_QUEUES[schedule.SHARD_TASKS[stage.stage]]: f"{stage.due} servers wait"
        for stage in shown.stages
        if stage.due and stage.stage is not Stage.COLLECT
    }
    return {schedule.PUBLISH_QUEUE: f"run {row.run.id} is not continued and not published"} | needed
