"""What Prometheus reads: an overview as metrics. Dashboards and alerts may name what is declared here, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from evidence.store import RunRow, RunState
from workers.coordination.broker_statistics import HOST_WAIT_SECONDS, HOST_WAITS, BrokerStatistics
from workers.observability.run_statistics import RunStatistics, StoreStatistics
from workers.observability.status import NotInstalled, SystemStatus, Unavailable
from workers.settings.environment import Settings, read_code_version

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

# Name, label values in the order of the declaration, value.
Sample: TypeAlias = tuple[str, tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class MetricDeclaration:
    """A metric's meaning and labels. Counters are exposed with `_total` behind their name."""

    help: str
    labels: tuple[str, ...] = ()
    counter: bool = False


METRICS: Final[Mapping[str, MetricDeclaration]] = {
    "hallmark_build_info": MetricDeclaration("Version and commit of the code that answers.", ("version", "commit")),
    "hallmark_up": MetricDeclaration("1 when this part answers: database, broker.", ("part",)),
    "hallmark_look_seconds": MetricDeclaration("How long the last look at database, broker and workers took."),
    "hallmark_database_bytes": MetricDeclaration("Size of the whole database."),
    "hallmark_workers": MetricDeclaration("Workers that answer and take messages from this queue.", ("queue",)),
    "hallmark_queue_length": MetricDeclaration("Messages of a queue that no worker has taken.", ("queue",)),
    "hallmark_queue_oldest_age_seconds": MetricDeclaration(
        "Age of the oldest of them; 0 when there is none.", ("queue",)
    ),
    "hallmark_messages_taken": MetricDeclaration("Messages that workers have taken and not acknowledged."),
    "hallmark_hosts_leased": MetricDeclaration("Hosts that are visited now or were within the gap."),
    "hallmark_host_waits": MetricDeclaration("Visits that had to wait for another process at the host.", counter=True),
    "hallmark_host_wait_seconds": MetricDeclaration("Seconds that such visits waited in all.", counter=True),
    "hallmark_github_quota_left": MetricDeclaration(
        "Requests (core) or points (graphql) that GitHub still allows a token, by its digest.", ("token", "resource")
    ),
    "hallmark_github_quota_reset_seconds": MetricDeclaration("Seconds until all of it is back.", ("token", "resource")),
    "hallmark_github_rest_seconds": MetricDeclaration(
        "Seconds that a token rests after GitHub limited it.", ("token",)
    ),
    "hallmark_runs_unfinished": MetricDeclaration("Runs that are not over, by trigger.", ("trigger",)),
    "hallmark_runs_stopped": MetricDeclaration("Runs that wait for an operator: paused, withheld.", ("state",)),
    "hallmark_night_overdue_seconds": MetricDeclaration(
        "Seconds since a nightly run was due that does not exist; else 0."
    ),
    "hallmark_nightly_published_timestamp_seconds": MetricDeclaration("When the newest nightly run was published."),
    "hallmark_nightly_published_age_seconds": MetricDeclaration("Seconds since the newest nightly run was published."),
    "hallmark_run_info": MetricDeclaration(
        "The shown run: unfinished, else published last.", ("run", "trigger", "state")
    ),
    "hallmark_run_unfinished": MetricDeclaration(
        "1 while workers go on with the shown run; 0 when it is over or stopped."
    ),
    "hallmark_run_age_seconds": MetricDeclaration("Seconds since the shown run was planned."),
    "hallmark_run_deadline_seconds": MetricDeclaration("Age at which a nightly run is published as it is."),
    "hallmark_run_servers_planned": MetricDeclaration("Servers of the shown run."),
    "hallmark_run_servers_carried": MetricDeclaration(
        "Of these, servers that keep their last evidence: not their turn."
    ),
    "hallmark_run_servers_later": MetricDeclaration("Open servers whose time has not come.", ("stage",)),
    "hallmark_run_servers_done": MetricDeclaration("Servers that have passed a stage.", ("stage",)),
    "hallmark_run_rate": MetricDeclaration(
        "Servers per second that passed a stage in the last five minutes.", ("stage",)
    ),
    "hallmark_run_eta_seconds": MetricDeclaration("Seconds to go at that rate.", ("stage",)),
    "hallmark_run_leases": MetricDeclaration(
        "Open servers that a worker holds, or held for too long.", ("stage", "state")
    ),
    "hallmark_run_retries": MetricDeclaration("Failed attempts so far.", ("stage",)),
    "hallmark_run_failing": MetricDeclaration("Open servers with a failed attempt whose time has come.", ("stage",)),
    "hallmark_run_outcomes": MetricDeclaration(
        "Records by kind and outcome: observed, or why not.", ("kind", "outcome")
    ),
    "hallmark_run_own_failure_share": MetricDeclaration(
        "Share of the records that are absent because Hallmark failed."
    ),
}


def list_exposed_names() -> frozenset[str]:
    return frozenset(f"{name}_total" if declared.counter else name for name, declared in METRICS.items())


def render_metrics(overview: SystemStatus, settings: Settings, *, took: float) -> bytes:
    """The overview in Prometheus' text format; `took` seconds were needed for it."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(list_samples(overview, settings, took=took)))
    return generate_latest(registry)


def list_samples(overview: SystemStatus, settings: Settings, *, took: float) -> Iterator[Sample]:
    """Every sample of an overview. What is not known has none."""
    yield "hallmark_build_info", (read_code_version(), settings.commit or "unknown"), 1
    yield "hallmark_look_seconds", (), took
    yield "hallmark_night_overdue_seconds", (), overview.late
    yield "hallmark_run_deadline_seconds", (), settings.run_deadline.total_seconds()
    yield "hallmark_up", ("database",), float(not isinstance(overview.standing, Unavailable))
    if isinstance(overview.standing, StoreStatistics):
        yield from _standing(overview.standing, overview)
    if not isinstance(overview.waiting, NotInstalled):
        yield "hallmark_up", ("broker",), float(not isinstance(overview.waiting, Unavailable))
    if isinstance(overview.waiting, BrokerStatistics):
        yield from _waiting(overview.waiting)


def _standing(standing: StoreStatistics, overview: SystemStatus) -> Iterator[Sample]:
    yield "hallmark_database_bytes", (), standing.size
    for trigger, number in sorted(_by_trigger(standing.unfinished).items()):
        yield "hallmark_runs_unfinished", (trigger,), number
    for state in (RunState.PAUSED, RunState.WITHHELD):
        yield "hallmark_runs_stopped", (state.value,), sum(row.state is state for row in standing.unfinished)
    if standing.nightly is not None and standing.nightly.published_at is not None:
        at = standing.nightly.published_at
        yield "hallmark_nightly_published_timestamp_seconds", (), at.timestamp()
        yield "hallmark_nightly_published_age_seconds", (), (overview.at - at).total_seconds()
    if standing.night is not None:
        yield from _night(standing.night, overview)


def _by_trigger(rows: Iterable[RunRow]) -> Mapping[str, int]:
    found = {"nightly": 0, "retest": 0, "local": 0}
    for row in rows:
        found[row.run.trigger.value] = found.get(row.run.trigger.value, 0) + 1
    return found


def _night(night: RunStatistics, overview: SystemStatus) -> Iterator[Sample]:
    row = night.row
    yield "hallmark_run_info", (row.run.id, row.run.trigger.value, row.state.value), 1
    yield "hallmark_run_unfinished", (), float(row.state.is_working)
    if row.planned_at is not None:
        yield "hallmark_run_age_seconds", (), (overview.at - row.planned_at).total_seconds()
    yield "hallmark_run_servers_planned", (), max((stage.planned for stage in night.stages), default=0)
    yield "hallmark_run_servers_carried", (), night.carried
    for stage in night.stages:
        name = stage.stage.value
        yield "hallmark_run_servers_later", (name,), stage.later
        yield "hallmark_run_servers_done", (name,), stage.done
        yield "hallmark_run_leases", (name, "held"), stage.held
        yield "hallmark_run_leases", (name, "expired"), stage.expired
        yield "hallmark_run_retries", (name,), stage.retries
        yield "hallmark_run_failing", (name,), stage.failing
        yield "hallmark_run_rate", (name,), stage.rate or 0.0
        if stage.eta is not None:
            yield "hallmark_run_eta_seconds", (name,), stage.eta
    for (kind, outcome), number in sorted(night.outcomes.items()):
        yield "hallmark_run_outcomes", (kind, outcome), number
    if night.own_failure_share is not None:
        yield "hallmark_run_own_failure_share", (), night.own_failure_share


def _waiting(waiting: BrokerStatistics) -> Iterator[Sample]:
    for queue in waiting.queues:
        yield "hallmark_queue_length", (queue.name,), queue.length
        if queue.oldest is not None or not queue.length:
            yield "hallmark_queue_oldest_age_seconds", (queue.name,), queue.oldest or 0.0
        listening = sum(queue.name in queues for queues in waiting.workers.values())
        yield "hallmark_workers", (queue.name,), listening
    yield "hallmark_messages_taken", (), waiting.taken
    yield "hallmark_hosts_leased", (), waiting.hosts
    yield "hallmark_host_waits", (), waiting.counters.get(HOST_WAITS, 0.0)
    yield "hallmark_host_wait_seconds", (), waiting.counters.get(HOST_WAIT_SECONDS, 0.0)
    for quota in waiting.quota:
        yield "hallmark_github_quota_left", (quota.token, quota.resource), quota.left
        yield "hallmark_github_quota_reset_seconds", (quota.token, quota.resource), quota.resets_in
    for token, seconds in waiting.rests.items():
        yield "hallmark_github_rest_seconds", (token,), seconds


class _Once(Collector):
    """A collector of samples that were taken before."""

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
