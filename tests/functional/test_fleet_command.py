"""One command runs a whole night: beat and workers for all queues, of which one is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functional.cluster import Cluster
from tests.functional.processes import NIGHTLY, Process, differing, opened, until
from tests.servers.daemon import free_port
from tests.servers.otlp import ReceivedSpan, Receiver, receiving
from tests.workers.observability.test_health import fetched

pytestmark = pytest.mark.xdist_group("functional-celery")  # the undisturbed export is made once

KILLED = "the task of a killed process"
SECRET = "ghp_0123456789abcdef"
FLEET = (sys.executable, "-c", "from workers.cli.app import main; main()", "fleet")


@pytest.fixture
def ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture
def receiver(cluster: Cluster) -> Iterator[Receiver]:
    with receiving() as receiver:
        cluster.change("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        yield receiver


@pytest.fixture
def started(cluster: Cluster, tmp_path: Path, ports: tuple[int, int], receiver: Receiver) -> Iterator[Process]:
    cluster.change("HALLMARK_GITHUB_TOKENS", SECRET)
    health, site = map(str, ports)
    process = Process("fleet", (*FLEET, "--health-port", health, "--site-port", site), cluster.environment, tmp_path)
    yield process
    process.kill()  # the kernel then ends its workers
    until(lambda: not any(is_running(one["pid"]) for one in read_events(process, "process_started")), "workers ended")


def read_events(fleet: Process, name: str) -> list[dict[str, Any]]:
    lines = [line for line in fleet.log_file.read_text().splitlines() if line.startswith("{")]
    return [event for line in lines if (event := json.loads(line)).get("event") == name]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_fleet_publishes_the_night_that_no_killed_worker_changes(
    started: Process, cluster: Cluster, undisturbed: bytes, ports: tuple[int, int], receiver: Receiver
) -> None:
    until(lambda: len(read_events(started, "process_started")) == 10, "10 processes", explain=started.log)
    [scorer] = [one["pid"] for one in read_events(started, "process_started") if one["process"] == "score"]
    cluster.wait_until_collected(3)
    second = subprocess.run(FLEET, env=cluster.environment, capture_output=True, text=True, check=False)
    assert (second.returncode, "expected no other beat for this Redis" in second.stderr) == (1, True), second.stderr
    os.kill(scorer, signal.SIGKILL)
    export = cluster.wait_until_published()
    assert differing(export, undisturbed) == []
    until(lambda: len(read_events(started, "process_started")) == 11, "the scorer again", explain=started.log)
    health, site = (f"http://127.0.0.1:{port}" for port in ports)
    # A reading is kept for a multiple of the time that it took, so it may be from before the night was planned.
    until(
        lambda: "hallmark_run_servers_done" in fetched(f"{health}/metrics"), "metrics of the run", explain=started.log
    )
    with opened(cluster.url) as store:
        server = store.list_planned_servers(NIGHTLY)[0]
    until(lambda: server in fetched(f"{site}/servers/{server}"), "a page of the site", explain=started.log)
    [ended] = read_events(started, "process_ended")
    assert (ended["process"], ended["status"], ended["restart_in"]) == ("score", "signal 9", 1.0)
    os.kill(started.pid, signal.SIGTERM)
    until(lambda: started.crashed, "the fleet ended", explain=started.log)
    assert read_events(started, "fleet_ended")[0]["failed"] is True
    assert_traced(receiver, cluster)


def assert_traced(receiver: Receiver, cluster: Cluster) -> None:
    """Every visit and score is in the trace of its task, which the task that issued it has begun.

    The span of a task whose process is killed is never sent.
    """
    spans = {span.id: span for span in receiver.spans}

    def find_task(span: ReceivedSpan) -> str:
        while not span.name.startswith("run/"):
            if span.parent not in spans:
                return KILLED
            span = spans[span.parent]
        return span.name

    assert {find_task(span) for span in receiver.named("visit")} >= {"run/hallmark.probe_shard"}
    assert KILLED not in {find_task(span) for span in receiver.named("visit")}
    scored = {find_task(span) for span in receiver.named("score")}
    assert scored <= {"run/hallmark.score_shard", KILLED}, "none, if the killed process scored all servers"
    [published] = [span for span in receiver.named("publish") if span.attributes["hallmark.outcome"] == "published"]
    assert find_task(published) == "run/hallmark.publish_run"
    issued = [spans[span.parent] for span in receiver.named("run/hallmark.probe_shard")]
    assert {span.name for span in issued} == {"apply_async/hallmark.probe_shard"}
    assert {spans[span.parent].name for span in issued} <= {"run/hallmark.sweep", "run/hallmark.plan_run"}
    with opened(cluster.url) as store:
        planned = set(store.list_planned_servers(NIGHTLY))
    assert {span.attributes["hallmark.server"] for span in receiver.named("visit")} == planned
    sent = b"".join(receiver.bodies)
    assert not any(text.encode() in sent for text in (SECRET, cluster.url, cluster.valkey.url))
