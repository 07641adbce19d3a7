"""The metrics of an overview, read back as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from evidence.model import Run, Trigger
from evidence.store import PublicationProgress, RunRow, RunState, Stage
from tests.workers import world
from workers.coordination.broker_statistics import BrokerStatistics, QueueStatistics
from workers.coordination.shared_github_quota import TokenQuota
from workers.observability.metrics import METRICS, list_exposed_labels, list_exposed_names, render_metrics
from workers.observability.run_statistics import OBSERVED_LABEL, RunStatistics, StageStatistics, StoreStatistics
from workers.observability.status import NotInstalled, SystemStatus, Unavailable
from workers.settings.secret import Secret

NOW = world.NIGHT + timedelta(hours=1)
TASKS = {
    "task_seconds:probe_shard:10.0": 2.0,
    "task_seconds:probe_shard:900.0": 3.0,
    "task_seconds:probe_shard:inf": 1.0,
    "task_seconds:probe_shard:sum": 5900.5,
}
RUN = Run(id="20261121T030000Z-nightly", trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={})
ROW = RunRow(run=RUN, state=RunState.PLANNED, planned_at=world.NIGHT)
BEFORE = RunRow(
    run=replace(RUN, id="20261120T030000Z-nightly"), state=RunState.PUBLISHED, published_at=NOW - timedelta(hours=20)
)
COLLECT = StageStatistics(
    stage=Stage.COLLECT,
    planned=100,
    done=40,
    held=5,
    expired=2,
    retries=7,
    latest=NOW,
    failing=3,
    rate=2.0,
    later=9,
    carried=12,
    due=50,
)
NIGHT = RunStatistics(
    row=ROW,
    stages=(COLLECT, replace(COLLECT, stage=Stage.SCORE, done=0, rate=None)),
    outcomes={("listing", OBSERVED_LABEL): 30, ("listing", "unreachable"): 8, ("listing", "collector_error"): 2},
    publication=PublicationProgress(parts=5, done=2),
)
STANDING = StoreStatistics(shown=NIGHT, has_due=True, unfinished=(ROW,), published=BEFORE, nightly=BEFORE, size=12_345)
WAITING = BrokerStatistics(
    queues=(QueueStatistics("probe", 3, 61.5), QueueStatistics("score", 0, None), QueueStatistics("publish", 1, None)),
    taken=2,
    hosts=9,
    workers={"one@a": ("probe", "score"), "two@b": ("probe",)},
    counters={"host_waits": 4.0, "host_wait_seconds": 2.5, **TASKS},
    quota=(TokenQuota(token="a1b2", resource="core", left=4_990, resets_in=1_800.0),),
    pauses={"a1b2": 12.0},
)
OVERVIEW = SystemStatus(at=NOW, store=STANDING, broker=WAITING, due=world.NIGHT, overdue=0.0)

Series = Mapping[tuple[str, frozenset[str]], float]


def read(overview: SystemStatus, **changes: object) -> Series:
    """Samples by name and label values, as Prometheus' own parser finds them."""
    text = render_metrics(overview, world.settings(Path("/nowhere"), **changes), took=0.25).decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.values()))
            assert key not in found
            found[key] = sample.value
    return found


def value(series: Series, name: str, *labels: str) -> float | None:
    return series.get((name, frozenset(labels)))


@pytest.mark.parametrize("state", [RunState.PAUSED, RunState.WITHHELD])
def test_a_night_that_waits_for_an_operator_is_not_under_way(state: RunState) -> None:
    row = replace(ROW, state=state)
    store = replace(STANDING, shown=replace(NIGHT, row=row), unfinished=(row,))
    series = read(replace(OVERVIEW, store=store))
    assert value(series, "hallmark_runs_stopped", state.value) == 1
    assert value(series, "hallmark_run_unfinished") == 0
    assert value(series, "hallmark_runs_unfinished", "nightly") == 1


def test_a_running_night_has_metrics() -> None:
    series = read(OVERVIEW)
    assert value(series, "hallmark_run_servers_planned") == 100
    assert value(series, "hallmark_run_servers_done", "collect") == 40
    assert value(series, "hallmark_run_rate", "collect") == 2
    assert value(series, "hallmark_run_eta_seconds", "collect") == 30
    assert value(series, "hallmark_run_leases", "collect", "held") == 5
    assert value(series, "hallmark_run_leases", "collect", "expired") == 2
    assert value(series, "hallmark_run_retries", "collect") == 7
    assert value(series, "hallmark_run_publication_parts", "done") == 2
    assert value(series, "hallmark_run_publication_parts", "waiting") == 3
    assert value(series, "hallmark_run_outcomes", "listing", "unreachable") == 8
    assert value(series, "hallmark_run_own_failure_share") == 0.05
    assert value(series, "hallmark_run_age_seconds") == 3600
    assert value(series, "hallmark_nightly_published_age_seconds") == 20 * 3600
    assert value(series, "hallmark_runs_unfinished", "nightly") == 1
    assert value(series, "hallmark_run_info", RUN.id, "nightly", "planned") == 1
    assert value(series, "hallmark_run_servers_carried") == 12
    assert value(series, "hallmark_run_servers_postponed", "collect") == 9
    assert value(series, "hallmark_runs_stopped", "withheld") == 0


def test_the_signal_for_autoscaling_is_due_work_divided_by_rate() -> None:
    series = read(OVERVIEW)
    assert value(series, "hallmark_stage_seconds_left", "collect") == 25
    assert value(series, "hallmark_stage_seconds_left", "score") == pytest.approx(50 * 300)  # nothing is done yet
    paused = replace(NIGHT, row=replace(ROW, state=RunState.PAUSED))
    still = read(replace(OVERVIEW, store=replace(STANDING, shown=paused)))
    assert value(still, "hallmark_stage_seconds_left", "collect") == 0


def test_what_is_not_known_has_no_sample() -> None:
    series = read(OVERVIEW)
    assert value(series, "hallmark_run_eta_seconds", "score") is None
    assert value(series, "hallmark_queue_oldest_age_seconds", "publish") is None
    away = read(replace(OVERVIEW, store=Unavailable("gone"), broker=Unavailable("gone")))
    assert value(away, "hallmark_up", "database") == 0
    assert value(away, "hallmark_up", "broker") == 0
    names = {name for name, _ in away}
    assert not any(name.startswith(("hallmark_run_s", "hallmark_queue", "hallmark_workers")) for name in names)


def test_queues_show_age_length_and_who_listens() -> None:
    series = read(OVERVIEW)
    assert value(series, "hallmark_queue_length", "probe") == 3
    assert value(series, "hallmark_queue_oldest_age_seconds", "probe") == 61.5
    assert value(series, "hallmark_queue_oldest_age_seconds", "score") == 0
    assert value(series, "hallmark_workers", "probe") == 2
    assert value(series, "hallmark_workers", "publish") == 0
    assert value(series, "hallmark_host_waits_total") == 4
    assert value(series, "hallmark_host_wait_seconds_total") == 2.5
    assert value(series, "hallmark_github_quota_left", "a1b2", "core") == 4990
    assert value(series, "hallmark_github_quota_reset_seconds", "a1b2", "core") == 1800
    assert value(series, "hallmark_github_pause_seconds", "a1b2") == 12


def test_an_embedded_installation_has_no_broker_that_could_be_away() -> None:
    series = read(replace(OVERVIEW, broker=NotInstalled("embedded")))
    assert value(series, "hallmark_up", "database") == 1
    assert value(series, "hallmark_up", "broker") is None


def test_everything_declared_is_exposed_and_nothing_else() -> None:
    assert {name for name, _ in read(OVERVIEW)} == list_exposed_names()


def test_every_sample_has_the_declared_labels() -> None:
    text = render_metrics(OVERVIEW, world.settings(Path("/nowhere")), took=0.25).decode()
    for family in text_string_to_metric_families(text):
        declared = METRICS[family.name]
        assert family.documentation == declared.help
        assert (family.type == "counter") == declared.counter
        assert (family.type == "histogram") == declared.histogram
        for sample in family.samples:
            assert sorted(sample.labels) == sorted(list_exposed_labels()[sample.name])


def test_the_times_of_tasks_are_a_histogram() -> None:
    """Each bucket contains the tasks of the smaller ones, and the last one all."""
    series = read(OVERVIEW)
    bounds = ("0.1", "1.0", "10.0", "60.0", "300.0", "900.0", "3600.0", "+Inf")
    found = [value(series, "hallmark_task_seconds_bucket", "probe_shard", bound) for bound in bounds]
    assert found == [0, 0, 2, 2, 2, 5, 5, 6]
    assert value(series, "hallmark_task_seconds_count", "probe_shard") == 6
    assert value(series, "hallmark_task_seconds_sum", "probe_shard") == 5900.5


def test_no_secret_is_exposed() -> None:
    secrets = {
        "redis_url": Secret("redis://:s3cret@127.0.0.1/0"),
        "database_url": Secret("postgresql+psycopg://me:s3cret@127.0.0.1/x"),
        "github_tokens": (Secret("s3cret"),),
    }
    text = render_metrics(OVERVIEW, world.settings(Path("/nowhere"), **secrets), took=0.0).decode()
    assert "s3cret" not in text
    assert "127.0.0.1" not in text
