"""The Celery application: `celery -A workers.celery_app worker` and `celery -A workers.celery_app beat`."""

from __future__ import annotations

import multiprocessing
import sys
import time
from datetime import UTC, datetime
from functools import cache
from multiprocessing.synchronize import Event
from typing import Any, Final

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    celeryd_after_setup,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutting_down,
)

from evidence.store import StoreUnavailable, open_store
from workers import log, schedule
from workers.clock import clock_at
from workers.coordination import broker_statistics
from workers.coordination.broker import make_queue
from workers.nightly.actions import DATABASE_ACTION
from workers.observability.task_times import TaskTimer
from workers.observability.tracing import start_tracing, stop_tracing
from workers.settings.environment import Settings, read_settings

_DATABASE_TRIES: Final = 20
_DATABASE_PAUSE: Final = 3.0
_LONGEST_REASON: Final = 300


@cache
def worker_settings() -> Settings:
    """The settings of this process, read once."""
    return read_settings()


def celery_configuration() -> dict[str, Any]:
    """Celery's configuration, derived from the settings when Celery first needs it."""
    mine = worker_settings()
    soft, hard = (limit.total_seconds() for limit in mine.task_limits)
    long_soft, long_hard = (limit.total_seconds() for limit in mine.long_task_limits)
    return {
        "broker_url": mine.redis_url.reveal(),
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {"visibility_timeout": mine.visibility_timeout.total_seconds()},
        "task_queues": [make_queue(name) for name in schedule.QUEUES],
        "task_default_queue": schedule.PROBE_QUEUE,
        "task_routes": {task: {"queue": queue} for task, queue in schedule.TASK_QUEUES.items()},
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_soft_time_limit": soft,
        "task_time_limit": hard,
        "task_annotations": {
            task: {"soft_time_limit": long_soft, "time_limit": long_hard} for task in schedule.LONG_TASKS
        },
        "worker_max_memory_per_child": mine.worker_memory * 1024,
        "worker_max_tasks_per_child": mine.worker_tasks,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "beat_schedule": schedule.build_beat_table(mine),
        "beat_max_loop_interval": min(mine.sweep_every.total_seconds(), 60.0),
        "timezone": "UTC",
    }


@cache
def worker_version() -> str:
    """The digest of the pins of this process, which names its parts of the queues."""
    # Imported late: only workers and beat compare versions.
    from workers.runs import pins  # noqa: PLC0415
    from workers.wiring.network import NetworkWiring  # noqa: PLC0415

    mine = worker_settings()
    collectors = NetworkWiring(mine, clock_at(mine.clock)).versions
    return pins.digest_pins(pins.read_current_pins(collectors, mine.commit))


app = Celery("hallmark", include=["workers.tasks"], set_as_current=False)
app.add_defaults(celery_configuration)


def _configure_logs(**_: object) -> None:
    log.configure_logging(worker_settings().log_level, worker_settings().log_format)


def _hush(instance: Any = None, **_: object) -> None:
    # Celery 5.7 prints its banner even with `--quiet`.
    instance.quiet = not sys.stdout.isatty()


def _consume_own_version(instance: Any = None, **_: object) -> None:
    """Take also the tasks about runs of this version, from the queues that the worker was started for."""
    queues = instance.app.amqp.queues
    for name in [name for name in schedule.QUEUES if name in queues.consume_from]:
        queues.select_add(make_queue(schedule.name_version_queue(name, worker_version())))


def _start_at_once(sender: Any = None, **_: object) -> None:
    """Plan and sweep when beat starts instead of one interval later; workers of beat's version plan."""
    planning, sweeping = (sender.scheduler.schedule[name] for name in (schedule.PLAN_ENTRY, schedule.SWEEP_ENTRY))
    planning.options["queue"] = make_queue(schedule.name_version_queue(schedule.PROBE_QUEUE, worker_version()))
    planning.last_run_at = sweeping.last_run_at = datetime.min.replace(tzinfo=UTC)


def _bind_logs(task: Any = None, args: Any = (), **_: object) -> None:
    log.replace_log_context(**schedule.describe_task(task.name, args or ()))


def _unbind_logs(**_: object) -> None:
    log.replace_log_context()


def _migrate(**_: object) -> None:
    """Migrate the database. The process ends with an error when the database does not answer for a minute."""
    _configure_logs()  # Celery does it later
    store = open_store(worker_settings().store_url)
    for last in (*[False] * (_DATABASE_TRIES - 1), True):
        try:
            store.migrate()
        except StoreUnavailable as error:
            log.get_log().error("database_unavailable", why=str(error)[:_LONGEST_REASON], action=DATABASE_ACTION)
            if last:
                sys.exit(1)  # the only exception that Celery lets pass through a signal
            time.sleep(_DATABASE_PAUSE)
        else:
            break
    store.close()


def _warm(**_: object) -> None:
    from workers.preload import preload_modules  # noqa: PLC0415  beat and the command line need no rules
    from workers.wiring.probe_modules import preload_probes  # noqa: PLC0415

    preload_probes()
    preload_modules()


class _Stop:
    """A flag that the main process raises when it has to stop; the processes of its pool inherit it."""

    def __init__(self) -> None:
        self._flag: Event | None = None

    def prepare(self, **_: object) -> None:
        self._flag = multiprocessing.get_context("fork").Event()

    def raise_(self, **_: object) -> None:
        if self._flag is not None:
            self._flag.set()

    def is_raised(self) -> bool:
        return self._flag is not None and self._flag.is_set()


_stop = _Stop()


def is_stopping() -> bool:
    """True when this worker has to stop: long tasks then end early and release their leases."""
    return _stop.is_raised()


@cache
def _timer() -> TaskTimer:
    return TaskTimer(worker_settings().redis_url.reveal())


def _begin_time(**_: object) -> None:
    _timer().begin()


def _count_time(task: Any = None, **_: object) -> None:
    _timer().end(task)


def _trace(**_: object) -> None:
    start_tracing(of_celery=True)


def _end_traces(**_: object) -> None:
    stop_tracing()


setup_logging.connect(_configure_logs)
celeryd_after_setup.connect(_hush)
celeryd_after_setup.connect(_consume_own_version)
before_task_publish.connect(broker_statistics.stamp_sent_time)
task_prerun.connect(_bind_logs)
task_prerun.connect(_begin_time)
task_postrun.connect(_count_time)
task_postrun.connect(_unbind_logs)
worker_init.connect(_migrate)
worker_init.connect(_warm)
worker_init.connect(_stop.prepare)
worker_process_init.connect(_trace)
worker_process_shutdown.connect(_end_traces)
worker_shutting_down.connect(_stop.raise_)
beat_init.connect(_migrate)
beat_init.connect(_start_at_once)
beat_init.connect(_trace)
