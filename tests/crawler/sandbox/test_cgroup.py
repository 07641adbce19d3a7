"""A box's control group: entered before anything runs, gone with it, and cleared after whoever made it was killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.wire.sandbox import cgroup
from crawler.wire.sandbox.process import family
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox.driving import HOSTILE, sandbox

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not os.access(cgroup.V1 / "cgroup.procs", os.W_OK), reason="control groups cannot be made here"),
]


def test_every_process_of_a_box_is_in_its_group_until_it_is_gone(cache: Path) -> None:
    async def scenario() -> None:
        box = await sandbox(cache)
        arguments = ("python", "attack.py", "daemons", "3")
        launched = await box.launch(Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=arguments))
        assert not isinstance(launched, Absent), launched
        await launched.read(4096)
        [group] = ours()
        members = set(map(int, (group / "cgroup.procs").read_text().split()))
        inside = set(family(launched._process.pid))  # type: ignore[attr-defined]
        assert len(members & inside) >= 6  # bubblewrap twice, the script and its daemons
        assert [pid for pid in inside - members if alive(pid)] == []
        await launched.stop()
        assert ours() == []

    asyncio.run(scenario())


def test_killed_starters_leave_no_group_and_no_member_after_a_sweep() -> None:
    make = "from crawler.wire.sandbox import cgroup; print(cgroup.found(9).folder, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", make], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        folder = Path(starter.stdout.readline().strip())
        cgroup.sweep()
        assert folder.is_dir()  # its maker lives
        starter.kill()
    survivor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (folder / "cgroup.procs").write_text(str(survivor.pid))
    cgroup.sweep()
    assert not folder.exists()
    assert survivor.wait() == -signal.SIGKILL


def test_groups_of_another_pid_namespace_are_left_alone() -> None:
    folder = cgroup.V1 / "hallmark-999999999-1-0"
    folder.mkdir()
    try:
        cgroup.sweep()
        assert folder.is_dir()
    finally:
        folder.rmdir()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def ours() -> list[Path]:
    return list(cgroup.V1.glob(f"hallmark-{os.getpid()}-*"))
