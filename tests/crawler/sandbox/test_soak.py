"""Five hundred boxes in a row, and supervisors killed in the middle of theirs: nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crawler.sandbox import Rootfs
from crawler.sandbox.boxes.process_tree import list_descendants
from tests.crawler.sandbox import census, unprivileged
from tests.crawler.sandbox.driving import sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.soak, pytest.mark.timeout(1800)]
MODULE = "tests.crawler.sandbox.soaking"
MIB = 1 << 20


def soaking(cache: Path, runs: int) -> list[str]:
    return [sys.executable, "-m", MODULE, "--cache", str(cache), "--runs", str(runs)]


def result(command: list[str], **options: object) -> dict[str, object]:
    done = subprocess.run(command, cwd=unprivileged.REPOSITORY, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.stdout.startswith("{"), done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def check(found: dict[str, object], runs: int) -> None:
    assert found["leaks"] == []
    assert found["runs"] == runs
    assert int(str(found["grown"])) < 8 * MIB, found["memory"]


def test_five_hundred_boxes_leave_nothing_behind(cache: Path) -> None:
    check(result(soaking(cache, 500)), 500)


def test_five_hundred_boxes_of_an_ordinary_user_leave_nothing_behind(tmp_path: Path, rootfs: Rootfs) -> None:
    cache = unprivileged.cache(tmp_path, rootfs.path.parents[1] / "tools")
    command = unprivileged.command(MODULE, "--cache", str(cache), "--runs", "500")
    found = result(command, env=unprivileged.environment(tmp_path))
    assert found["user"] == unprivileged.STRANGER
    check(found, 500)


def test_killed_supervisors_leave_nothing_behind(cache: Path) -> None:
    census.adopt_orphans()
    chance, killed = random.Random(8), []
    for _ in range(12):
        supervisor = subprocess.Popen(soaking(cache, 5000), cwd=unprivileged.REPOSITORY, stdout=subprocess.DEVNULL)
        boxes = {*wait_for_boxes(supervisor.pid)}
        time.sleep(chance.uniform(0.0, 1.0))
        handles = {
            pid: os.pidfd_open(pid)
            for pid in {*boxes, *list_descendants(supervisor.pid)}
            if Path(f"/proc/{pid}").exists()
        }
        supervisor.kill()
        supervisor.wait()
        killed.append(supervisor.pid)
        left = alive(handles, 5.0)
        # Killed between two calls of bubblewrap's, a first process waits for a word of it: it has executed nothing.
        assert {Path(f"/proc/{pid}/comm").read_text().strip() for pid in left} <= {"bwrap"}
        asyncio.run(sandbox(cache))  # the next process removes what a killed one left
        assert alive(left, 5.0) == {}
        for handle in handles.values():
            os.close(handle)
    assert [group for pid in killed for group in Path("/sys/fs/cgroup").glob(f"*/hallmark-{pid}-*")] == []


def wait_for_boxes(supervisor: int) -> list[int]:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        found = list_descendants(supervisor)
        if len(found) > 8:
            return found
        time.sleep(0.05)
    raise AssertionError("the supervisor started nothing")


def alive(handles: dict[int, int], seconds: float) -> dict[int, int]:
    ends = time.monotonic() + seconds
    return {
        pid: handle
        for pid, handle in handles.items()
        if not select.select([handle], [], [], max(0.0, ends - time.monotonic()))[0]
    }
