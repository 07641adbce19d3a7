"""Boxes leave no zombies in an environment whose process 1 does not reap, such as a container without init."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.sandbox.kernel.zombie_reaping import reap_group, reap_named
from tests.crawler.sandbox import unprivileged
from tests.crawler.sandbox.boxes_without_init import NEVER_WAITS

MODULE = "tests.crawler.sandbox.boxes_without_init"


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a pid namespace with a /proc of its own")
def test_boxes_leave_no_zombies_below_a_process_1_that_never_reaps(cache: Path) -> None:
    alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [*alone, sys.executable, "-c", NEVER_WAITS, sys.executable, "-m", MODULE, str(cache)]
    with subprocess.Popen(command, cwd=unprivileged.REPOSITORY, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        said = started.stdout.readline()
        started.kill()
    assert json.loads(said) == ["sh"]  # the process that shows that process 1 reaps none


def test_only_a_group_s_own_dead_are_buried() -> None:
    other = subprocess.Popen(["/bin/true"])
    group = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    group.kill()
    reap_group(group.pid)
    with pytest.raises(ChildProcessError):
        os.waitpid(group.pid, 0)
    assert other.wait() == 0
    assert group.wait() == 0  # unknown: it is buried


def test_only_the_dead_of_a_name_are_buried() -> None:
    dead = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    living = subprocess.Popen(["/bin/sleep", "60"])
    reap_named("sleep", [living.pid, dead.pid, os.getpid(), 1])
    assert Path(f"/proc/{dead.pid}").exists()
    reap_named("true", [living.pid, dead.pid])
    assert not Path(f"/proc/{dead.pid}").exists()
    living.kill()
    assert living.wait() == -9
