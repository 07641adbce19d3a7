"""The control group of a box: entered before the command starts, removed after it, and cleaned up after a crash."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.sandbox import Limits
from crawler.sandbox.boxes import process_tree
from crawler.sandbox.boxes.process_tree import list_descendants
from crawler.sandbox.kernel import cgroup
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox.driving import HOSTILE, alive, attack, sandbox

PIDS = cgroup.ROOT / "pids"
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not os.access(PIDS / "cgroup.procs", os.W_OK), reason="control groups cannot be made here"),
]


def test_every_process_of_a_box_is_in_its_group_until_it_is_gone(cache: Path) -> None:
    async def scenario() -> None:
        box = await sandbox(cache)
        arguments = ("python", "attack.py", "daemons", "3")
        launched = await box.launch(Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=arguments))
        assert not isinstance(launched, Absent), launched
        await launched.read(4096)
        [group] = ours()
        inside: set[int] = set()
        members: set[int] = set()
        async with asyncio.timeout(30):  # the daemons are still forking
            while len(members & inside) < 6:  # bubblewrap twice, the script and its daemons
                await asyncio.sleep(0.02)
                # The members are read last: a process that starts between the readings is then one and not missing.
                inside = set(list_descendants(launched._process.pid))  # type: ignore[attr-defined]
                members = set(map(int, (group / "cgroup.procs").read_text().split()))
        assert [pid for pid in inside - members if alive(pid)] == []
        await launched.stop()
        assert ours() == []

    asyncio.run(scenario())


def test_killed_starters_leave_no_group_and_no_member_after_a_sweep() -> None:
    make = (
        "from crawler.sandbox import Limits\nfrom crawler.sandbox.kernel import cgroup\n"
        "print(*cgroup.create_group(Limits()).folders, flush=True)\ninput()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", make], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        folders = [Path(each) for each in starter.stdout.readline().split()]
        folder = folders[0]
        cgroup.remove_abandoned_groups()
        assert all(each.is_dir() for each in folders)  # its maker lives
        starter.kill()
    survivor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (folder / "cgroup.procs").write_text(str(survivor.pid))
    cgroup.remove_abandoned_groups()
    assert not any(each.exists() for each in folders)
    assert survivor.wait() == -signal.SIGKILL


def test_groups_of_another_pid_namespace_are_left_alone() -> None:
    folder = PIDS / "hallmark-999999999-1-0"
    folder.mkdir()
    try:
        cgroup.remove_abandoned_groups()
        assert folder.is_dir()
    finally:
        folder.rmdir()


@pytest.mark.parametrize("controller", ["pids", "memory", "cpu"])
def test_every_controller_holds_the_box(cache: Path, controller: str) -> None:
    async def scenario() -> set[int]:
        box = await sandbox(cache)
        arguments = ("python", "attack.py", "sleep", "60")
        launched = await box.launch(Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=arguments))
        assert not isinstance(launched, Absent), launched
        await launched.read(4096)
        [group] = (cgroup.ROOT / controller).glob(f"hallmark-{os.getpid()}-*")
        members = set(map(int, (group / "cgroup.procs").read_text().split()))
        assert members >= set(list_descendants(launched._init.pid))  # type: ignore[attr-defined]
        await launched.stop()
        assert not group.exists()
        return members

    assert len(asyncio.run(scenario())) >= 2


@pytest.mark.skipif(not os.access(cgroup.ROOT / "cpu" / "cgroup.procs", os.W_OK), reason="no group for processors")
def test_a_box_with_a_share_of_the_processors_starts_daemons_as_it_likes(cache: Path) -> None:
    found, _ = attack(cache, "sessions", "12")
    assert found["sessions"] == 12


def test_box_that_the_kernel_stops_for_memory_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "measure_private_memory", lambda _: 0)  # faster than any watchdog
    monkeypatch.setattr(cgroup, "SLACK", 0)
    limits = Limits(memory=40 << 20, scratch=1 << 20, shared_memory=1 << 20)
    _, end = attack(cache, "memory", "200", limits=limits)
    assert (end.code, end.stderr) == (None, "sandbox: stopped at the memory limit of 40 MiB")


def test_a_box_cannot_read_the_name_of_its_group(cache: Path) -> None:
    found, _ = attack(cache, "host_files", "/proc/self/cgroup")
    assert b"hallmark".hex() not in str(found)


def ours() -> list[Path]:
    return list(PIDS.glob(f"hallmark-{os.getpid()}-*"))
