"""The system status as Prometheus metrics. Dashboards and alerts may only use the metrics declared here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from evidence.store import RunRow, RunState
from workers.coordination.broker_statistics import HOST_WAIT_SECONDS, HOST_WAITS, BrokerStatistics
from workers.observability.problems import find_problems
from workers.observability.run_statistics import RunStatistics, StoreStatistics
from workers.observability.status import NotInstalled, SystemStatus, Unavailable
from workers.observability.task_times import TaskTimes, read_task_times
from workers.runs.pins import read_commit
from workers.settings.environment import Settings, read_code_version

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

# Name, label values in the order of the declaration, value.
Sample: TypeAlias = tuple[str, tuple[str, ...], float]


class MetricDeclaration(Struct, frozen=True):
    """Help text and labels of a metric.

    The exposed name of a counter ends in `_total`; a histogram is exposed as `_bucket`, `_count` and `_sum`.
    """

    help: str
    labels: tuple[str, ...] = ()
    counter: bool = False
    histogram: bool = False


TASK_SECONDS: Final = "hallmark_task_seconds"

METRICS: Final[Mapping[str, MetricDeclaration]] = {
    "hallmark_build_info": MetricDeclaration("Version and commit of the code that answers.", ("version", "commit")),
    "hallmark_up": MetricDeclaration("1 when this part answers: database, broker.", ("part",)),
    "hallmark_status_read_seconds": MetricDeclaration("Duration of the last query of database, broker and workers."),
    "hallmark_database_bytes": MetricDeclaration("Size of the whole database."),
    "hallmark_workers": MetricDeclaration("Workers that answer and take messages from this queue.", ("queue",)),
    "hallmark_queue_length": MetricDeclaration("Messages of a queue that no worker has taken.", ("queue",)),
    "hallmark_queue_oldest_age_seconds": MetricDeclaration(
        "Age of the oldest message in a queue; 0 when the queue is empty.", ("queue",)
    ),
    "hallmark_messages_unacknowledged": MetricDeclaration("Messages that workers have taken and not acknowledged."),
    "hallmark_hosts_leased": MetricDeclaration("Hosts that are probed now or were within the request gap."),
    "hallmark_host_waits": MetricDeclaration("Probes that waited for another process at the same host.", counter=True),
    "hallmark_host_wait_seconds": MetricDeclaration("Total seconds of these waits.", counter=True),
    TASK_SECONDS: MetricDeclaration("Durations of tasks since the broker was empty.", ("task",), histogram=True),
    "hallmark_github_quota_left": MetricDeclaration(
        "Remaining GitHub requests (core) or points (graphql) of a token, by its digest.", ("token", "resource")
    ),
    "hallmark_github_quota_reset_seconds": MetricDeclaration("Seconds until the quota resets.", ("token", "resource")),
    "hallmark_github_pause_seconds": MetricDeclaration(
        "Seconds for which a rate-limited token is not used.", ("token",)
    ),
    "hallmark_runs_unfinished": MetricDeclaration("Unfinished runs, by trigger.", ("trigger",)),
    "hallmark_runs_stopped": MetricDeclaration("Runs that wait for an operator: paused or withheld.", ("state",)),
    "hallmark_nightly_overdue_seconds": MetricDeclaration("Seconds since a missing nightly run was due; else 0."),
    "hallmark_nightly_published_timestamp_seconds": MetricDeclaration("When the newest nightly run was published."),
    "hallmark_nightly_published_age_seconds": MetricDeclaration("Seconds since the newest nightly run was published."),
    "hallmark_run_info": MetricDeclaration(
        "The current run: an unfinished one, else the one published last.", ("run", "trigger", "state")
    ),
    "hallmark_run_unfinished": MetricDeclaration(
        "1 while workers work on the current run; 0 when it is finished or stopped."
    ),
    "hallmark_run_age_seconds": MetricDeclaration("Seconds since the current run was planned."),
    "hallmark_run_deadline_seconds": MetricDeclaration("Age at which a nightly run is published as it is."),
    "hallmark_run_servers_planned": MetricDeclaration("Servers of the current run."),
    "hallmark_run_servers_carried": MetricDeclaration("Servers that keep their last evidence in this run."),
    "hallmark_run_servers_postponed": MetricDeclaration("Open servers that are not due yet.", ("stage",)),
    "hallmark_run_servers_done": MetricDeclaration("Servers that have passed a stage.", ("stage",)),
    "hallmark_run_rate": MetricDeclaration(
        "Servers per second that passed a stage in the last five minutes.", ("stage",)
    ),
    "hallmark_run_eta_seconds": MetricDeclaration("Remaining seconds at that rate.", ("stage",)),
    "hallmark_stage_seconds_left": MetricDeclaration(
        "Due servers of a stage divided by its rate in the last five minutes: the signal for autoscaling.", ("stage",)
    ),
    "hallmark_problems": MetricDeclaration("Problems for an operator, as `hallmark status` describes them.", ("kind",)),
    "hallmark_run_leases": MetricDeclaration("Open servers with a lease, held or expired.", ("stage", "state")),
    "hallmark_run_retries": MetricDeclaration("Failed attempts so far.", ("stage",)),
    "hallmark_run_failing": MetricDeclaration("Open servers with a failed attempt that are due.", ("stage",)),
    "hallmark_run_publication_parts": MetricDeclaration(
        "Parts of the current run that are written (done) or not (waiting); none unless it is being published.",
        ("state",),
    ),
    "hallmark_run_outcomes": MetricDeclaration(
        "Records by kind and outcome: observed, or the reason of absence.", ("kind", "outcome")
    ),
    "hallmark_run_own_failure_share": MetricDeclaration(
        "Share of the records that are absent because Hallmark failed."
    ),
}


def list_exposed_names() -> frozenset[str]:
    return frozenset(list_exposed_labels())


def list_exposed_labels() -> dict[str, tuple[str, ...]]:
    """The labels of every exposed name."""
    found: dict[str, tuple[str, ...]] = {}
    for name, declared in METRICS.items():
        if declared.histogram:
            found |= {f"{name}_{part}": declared.labels for part in ("count", "sum")}
            found[f"{name}_bucket"] = (*declared.labels, "le")
        else:
            found[f"{name}_total" if declared.counter else name] = declared.labels
    return found


def render_metrics(status: SystemStatus, settings: Settings, *, took: float) -> bytes:
    """The status in Prometheus' text format; reading it took `took` seconds."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(list_samples(status, settings, took=took)))
    if isinstance(status.broker, BrokerStatistics):
        registry.register(_TaskHistogram(read_task_times(status.broker.counters)))
    return generate_latest(registry)


def list_samples(status: SystemStatus, settings: Settings, *, took: float) -> Iterator[Sample]:
    """Every sample of a status; an unknown value has no sample."""
    yield "hallmark_build_info", (read_code_version(), read_commit(settings.commit)), 1
    yield "hallmark_status_read_seconds", (), took
    yield "hallmark_nightly_overdue_seconds", (), status.overdue
    for kind, number in Counter(problem.kind for problem in find_problems(status)).items():
        yield "hallmark_problems", (kind,), number
    yield "hallmark_run_deadline_seconds", (), settings.run_deadline.total_seconds()
    yield "hallmark_up", ("database",), float(not isinstance(status.store, Unavailable))
    if isinstance(status.store, StoreStatistics):
        yield from _store(status.store, status)
    if not isinstance(status.broker, NotInstalled):
        yield "hallmark_up", ("broker",), float(not isinstance(status.broker, Unavailable))
    if isinstance(status.broker, BrokerStatistics):
        yield from _broker_status(status.broker)


def _store(store: StoreStatistics, status: SystemStatus) -> Iterator[Sample]:
    yield "hallmark_database_bytes", (), store.size
    for trigger, number in sorted(_by_trigger(store.unfinished).items()):
        yield "hallmark_runs_unfinished", (trigger,), number
    for state in (RunState.PAUSED, RunState.WITHHELD):
        yield "hallmark_runs_stopped", (state.value,), sum(row.state is state for row in store.unfinished)
    if store.nightly is not None and store.nightly.published_at is not None:
        at = store.nightly.published_at
        yield "hallmark_nightly_published_timestamp_seconds", (), at.timestamp()
        yield "hallmark_nightly_published_age_seconds", (), (status.at - at).total_seconds()
    if store.shown is not None:
        yield from _shown_run(store.shown, status)


def _by_trigger(rows: Iterable[RunRow]) -> Mapping[str, int]:
    found = {"nightly": 0, "retest": 0, "local": 0}
    for row in rows:
        found[row.run.trigger.value] = found.get(row.run.trigger.value, 0) + 1
    return found


def _shown_run(shown: RunStatistics, status: SystemStatus) -> Iterator[Sample]:
    row = shown.row
    yield "hallmark_run_info", (row.run.id, row.run.trigger.value, row.state.value), 1
    yield "hallmark_run_unfinished", (), float(row.state.is_working)
    if row.planned_at is not None:
        yield "hallmark_run_age_seconds", (), (status.at - row.planned_at).total_seconds()
    yield "hallmark_run_servers_planned", (), max((stage.planned for stage in shown.stages), default=0)
    yield "hallmark_run_servers_carried", (), shown.carried
    for stage in shown.stages:
        name = stage.stage.value
        yield "hallmark_run_servers_postponed", (name,), stage.later
        yield "hallmark_run_servers_done", (name,), stage.done
        yield "hallmark_run_leases", (name, "held"), stage.held
        yield "hallmark_run_leases", (name, "expired"), stage.expired
        yield "hallmark_run_retries", (name,), stage.retries
        yield "hallmark_run_failing", (name,), stage.failing
        yield "hallmark_run_rate", (name,), stage.rate or 0.0
        yield "hallmark_stage_seconds_left", (name,), stage.seconds_left if row.state.is_working else 0.0
        if stage.eta is not None:
            yield "hallmark_run_eta_seconds", (name,), stage.eta
    yield "hallmark_run_publication_parts", ("done",), shown.publication.done
    yield "hallmark_run_publication_parts", ("waiting",), shown.publication.waiting
    for (kind, outcome), number in sorted(shown.outcomes.items()):
        yield "hallmark_run_outcomes", (kind, outcome), number
    if shown.own_failure_share is not None:
        yield "hallmark_run_own_failure_share", (), shown.own_failure_share


def _broker_status(broker: BrokerStatistics) -> Iterator[Sample]:
    for queue in broker.queues:
        yield "hallmark_queue_length", (queue.name,), queue.length
        if queue.oldest is not None or not queue.length:
            yield "hallmark_queue_oldest_age_seconds", (queue.name,), queue.oldest or 0.0
        listening = sum(queue.name in queues for queues in broker.workers.values())
        yield "hallmark_workers", (queue.name,), listening
    yield "hallmark_messages_unacknowledged", (), broker.taken
    yield "hallmark_hosts_leased", (), broker.hosts
    yield "hallmark_host_waits", (), broker.counters.get(HOST_WAITS, 0.0)
    yield "hallmark_host_wait_seconds", (), broker.counters.get(HOST_WAIT_SECONDS, 0.0)
    for quota in broker.quota:
        yield "hallmark_github_quota_left", (quota.token, quota.resource), quota.left
        yield "hallmark_github_quota_reset_seconds", (quota.token, quota.resource), quota.resets_in
    for token, seconds in broker.pauses.items():
        yield "hallmark_github_pause_seconds", (token,), seconds


class _TaskHistogram(Collector):
    """The times of tasks as a histogram."""

    def __init__(self, times: Mapping[str, TaskTimes]) -> None:
        declared = METRICS[TASK_SECONDS]
        self._family = HistogramMetricFamily(TASK_SECONDS, declared.help, labels=declared.labels)
        for task, taken in times.items():
            buckets = [("+Inf" if bound == math.inf else str(bound), number) for bound, number in taken.buckets.items()]
            self._family.add_metric((task,), buckets, taken.seconds)

    def collect(self) -> Iterable[Metric]:
        return [self._family]


class _Once(Collector):
    """A collector of given samples."""

    def __init__(self, taken: Iterable[Sample]) -> None:
        self._families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
        for name, labels, value in taken:
            self._family(name).add_metric(labels, value)

    def collect(self) -> Iterable[Metric]:
        return self._families.values()

    def _family(self, name: str) -> GaugeMetricFamily | CounterMetricFamily:
        if name not in self._families:
            declared = METRICS[name]
            form = CounterMetricFamily if declared.counter else GaugeMetricFamily
            self._families[name] = form(name, declared.help, labels=declared.labels)
        return self._families[name]
