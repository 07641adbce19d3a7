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
from tests.functional.processes import Process, differing, until

FLEET = (sys.executable, "-c", "from workers.cli.app import main; main()", "fleet")


@pytest.fixture
def started(cluster: Cluster, tmp_path: Path) -> Iterator[Process]:
    process = Process("fleet", FLEET, cluster.environment, tmp_path)
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
    started: Process, cluster: Cluster, undisturbed: bytes
) -> None:
    until(lambda: len(read_events(started, "process_started")) == 8, "8 processes", explain=started.log)
    [scorer] = [one["pid"] for one in read_events(started, "process_started") if one["process"] == "score"]
    cluster.wait_until_collected(3)
    second = subprocess.run(FLEET, env=cluster.environment, capture_output=True, text=True, check=False)
    assert (second.returncode, "expected no other beat for this Redis" in second.stderr) == (1, True), second.stderr
    os.kill(scorer, signal.SIGKILL)
    export = cluster.wait_until_published()
    assert differing(export, undisturbed) == []
    until(lambda: len(read_events(started, "process_started")) == 9, "the scorer again", explain=started.log)
    [ended] = read_events(started, "process_ended")
    assert (ended["process"], ended["status"], ended["restart_in"]) == ("score", "signal 9", 1.0)
    os.kill(started.pid, signal.SIGTERM)
    until(lambda: started.crashed, "the fleet ended", explain=started.log)
    assert read_events(started, "fleet_ended")[0]["failed"] is True
