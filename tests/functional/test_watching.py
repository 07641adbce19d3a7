"""A real night as an operator sees it: every metric moves, and every line of a log says what it is about."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from evidence.store import Stage
from tests.functional.cluster import Cluster
from tests.functional.gate import Gate
from tests.functional.processes import NIGHTLY, opened, until
from tests.servers import preloaded
from tests.servers.daemon import free_port
from tests.servers.github.server import Local, serve
from tests.workers.observability.test_health import fetched
from workers import schedule

pytestmark = pytest.mark.xdist_group("functional-celery-nights")

SECRET = "ghp_0123456789abcdef"

# The health app, which keeps neither looks nor counts: the night is over in seconds.
HEALTH = """
import sys, uvicorn
from datetime import timedelta
from workers.observability import health, run_statistics
health.METRICS_SECONDS, run_statistics._OUTCOMES_EVERY = 0.0, timedelta(0)
uvicorn.run(health.create_app(), port=int(sys.argv[1]), log_level="error")
"""

# By metric and the values of its labels what was seen of it, in the order of the looks.
Seen = Mapping[tuple[str, frozenset[str]], list[float]]


@pytest.fixture
def github() -> Iterator[Local]:
    with serve() as local:
        yield local


@contextmanager
def health_app(env: Mapping[str, str], folder: Path) -> Iterator[str]:
    """The address of the health app of a deployment."""
    port = free_port()
    app = preloaded.Popen([sys.executable, "-c", HEALTH, str(port)], env=dict(env), cwd=folder)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        app.kill()
        app.wait()


def watched(cluster: Cluster, address: str, gate: Gate) -> Seen:
    """Every sample of looks at the deployment until its night is published, and of one look after it.

    The gate is opened when a look has seen a planned run of which nothing is done, and a message that waits.

    Waiting for hosts is not in it, since loopback addresses have no gap: tests/workers/observability/test_status.py.
    """
    seen: dict[tuple[str, frozenset[str]], list[float]] = defaultdict(list)

    def look() -> bool:
        is_over = cluster.published()
        for family in text_string_to_metric_families(fetched(f"{address}/metrics")):
            for sample in family.samples:
                seen[sample.name, frozenset(sample.labels.values())].append(sample.value)
        if largest(seen, "hallmark_run_servers_planned") > 0 and waited(seen):
            gate.open()
        return is_over

    until(look, "run published", explain=cluster.log)
    return seen


def lines(logs: Sequence[Path]) -> list[dict[str, Any]]:
    """What was logged; anything but a line of JSON fails."""
    return [json.loads(line) for log in logs for line in log.read_text().splitlines() if line]


def waited(seen: Seen) -> bool:
    """Whether a message was seen to wait in a queue, and for how long."""
    names = ("hallmark_queue_length", "hallmark_queue_oldest_age_seconds")
    return all(max(largest(seen, name, queue) for queue in schedule.QUEUES) > 0 for name in names)


def largest(seen: Seen, name: str, *labels: str) -> float:
    return max(seen.get((name, frozenset(labels)), [0.0]))


@pytest.mark.soak
def test_every_metric_moves_and_every_line_says_what_it_is_about(
    cluster: Cluster, github: Local, tmp_path: Path
) -> None:
    cluster.change("HALLMARK_SOURCES", '["repository"]')
    cluster.change("HALLMARK_GITHUB_API", github.api)
    cluster.change("HALLMARK_GITHUB_TOKENS", SECRET)
    cluster.change("PYTHONWARNINGS", "ignore")  # of Celery, about tests that are run by root
    with health_app(cluster.environment, tmp_path) as address:
        gate = cluster.gated()
        cluster.start_worker(app="tests.functional.gated_shards")
        cluster.start_beat()
        seen = watched(cluster, address, gate)
    with opened(cluster.url) as store:
        stages = store.read_progress(NIGHTLY).done
    for stage in stages:
        done = seen["hallmark_run_servers_done", frozenset({stage.value})]
        assert min(done) < max(done) == stages[stage], stage
        assert largest(seen, "hallmark_run_rate", stage.value) > 0, stage
    assert {Stage.PROBE, Stage.SANDBOX, Stage.GITHUB, Stage.COLLECT, Stage.SCORE} <= stages.keys()
    assert largest(seen, "hallmark_run_servers_planned") == stages[Stage.SCORE]
    assert largest(seen, "hallmark_run_outcomes", "listing", "observed") > 0
    assert largest(seen, "hallmark_run_outcomes", "repository", "no_repository") > 0
    assert seen["hallmark_run_own_failure_share", frozenset()][-1] == 0
    for queue in schedule.QUEUES:
        assert largest(seen, "hallmark_workers", queue) == 1, queue
    assert waited(seen)
    assert largest(seen, "hallmark_messages_unacknowledged") > 0
    for task in ("plan_run", "probe_shard", "score_shard"):
        ended = largest(seen, "hallmark_task_seconds_count", task)
        assert ended > 0, task
        assert ended == largest(seen, "hallmark_task_seconds_bucket", task, "+Inf")
    quota = github.world.quota(SECRET, "core")
    [left] = [values for (name, labels), values in seen.items() if name.endswith("quota_left") and "core" in labels]
    assert left[-1] == quota.remaining < quota.limit

    logged = cluster.log_files()
    assert not any(SECRET in log.read_text() for log in logged)
    events = lines(logged)
    for event in events:
        if event["event"] in {"run_planned", "servers_scored", "run_published"}:
            assert event["run"] == NIGHTLY
            assert event["task"]
        assert event.get("stage") == ("score" if event.get("task") == "score_shard" else event.get("stage"))
    assert {"run_planned", "servers_scored", "run_published"} <= {event["event"] for event in events}
