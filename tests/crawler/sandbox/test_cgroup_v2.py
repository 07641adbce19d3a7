"""Control groups of version 2 as the kernel has them, where it has them and lets us make some; else it is said why not.

Most machines with systemd have them; `docs/guide/sandbox.md` says on which kernel these tests were last run.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.sandbox import Limits
from crawler.sandbox.boxes import process_tree
from crawler.sandbox.boxes.process_tree import list_descendants
from crawler.sandbox.kernel import cgroup
from crawler.sandbox.kernel.cgroup import ControlGroup
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox import unprivileged
from tests.crawler.sandbox.driving import HOSTILE, attack, sandbox
from tests.crawler.sandbox.test_cgroup import alive

MIB = 1 << 20
PARENT = cgroup._unified()
ENABLED = (PARENT / "cgroup.subtree_control").read_text().split() if PARENT is not None else []
LIMITS = Limits(processes=9, memory=64 * MIB, scratch=0, shared_memory=0, cpus=0.5)
FORK = """
import os, time
made = 0
try:
    while made < 50:
        os.fork() or time.sleep(600)
        made += 1
except OSError as error:
    print(made, type(error).__name__)
"""
# Four at once want more than they may have, also where others keep the processors busy.
SPIN = "import os, time\nos.fork(); os.fork()\nuntil = time.monotonic() + 2\nwhile time.monotonic() < until: pass"
HOARD = "import os\nos.fork()\nx = bytearray(400 << 20)\nprint('lived')"
LENT = (
    "from crawler.sandbox import Limits\nfrom crawler.sandbox.kernel import cgroup\n"
    "print(cgroup.create_group(Limits()).folders[0])"
)
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.soak,
    pytest.mark.skipif(
        "pids" not in ENABLED or "memory" not in ENABLED,
        reason="no group of version 2 with pids and memory may be made here, beside our own or at the root",
    ),
]


@pytest.fixture
def group() -> Iterator[ControlGroup]:
    """A group with small limits, gone afterwards."""
    found = cgroup.create_group(LIMITS)
    assert found is not None
    yield found
    cgroup._kill_and_remove(found.folders[0])
    assert not found.folders[0].exists()


def run(group: ControlGroup, code: str) -> tuple[int, str]:
    """A program that begins once it is a member."""
    command = [sys.executable, "-S", "-c", f"import sys\nsys.stdin.readline()\n{code}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        asyncio.run(group.add_process(started.pid))
        assert members(group.folders[0]) == {started.pid}
        assert started.stdin is not None
        assert started.stdout is not None
        started.stdin.write("\n")
        started.stdin.close()
        said = started.stdout.readline()
        if code == FORK:
            (group.folders[0] / "cgroup.kill").write_text("1")
        return started.wait(), said.strip()


def members(folder: Path) -> set[int]:
    return set(map(int, (folder / "cgroup.procs").read_text().split()))


def counted(folder: Path, file: str) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, (folder / file).read_text().splitlines())}


def test_the_kernel_takes_every_cap(group: ControlGroup) -> None:
    [folder] = group.folders
    caps = {"pids.max": "10", "memory.max": str(64 * MIB + cgroup.SLACK), "memory.oom.group": "1"}
    caps |= {"cpu.max": "50000 100000", "cpu.weight": "50"} if "cpu" in ENABLED else {}
    assert {name: (folder / name).read_text().strip() for name in caps} == caps
    assert (folder.parent, group.task_files) == (PARENT, ())


def test_forks_end_at_the_cap(group: ControlGroup) -> None:
    _, said = run(group, FORK)
    assert said == "9 BlockingIOError"
    assert counted(group.folders[0], "pids.events")["max"] >= 1


@pytest.mark.skipif("cpu" not in ENABLED, reason="the controller cpu is not lent to us")
def test_the_processor_is_shared_out(group: ControlGroup) -> None:
    began = time.monotonic()
    run(group, SPIN)
    took, spent = time.monotonic() - began, counted(group.folders[0], "cpu.stat")
    assert spent["nr_throttled"] > 0
    assert spent["usage_usec"] < 700_000 * took


def test_all_members_die_together_for_memory(group: ControlGroup) -> None:
    assert not group.starved()
    assert run(group, HOARD) == (-9, "")
    assert group.starved()
    assert counted(group.folders[0], "memory.events")["oom_kill"] >= 2
    assert members(group.folders[0]) == set()


def test_every_process_of_a_box_is_in_its_group_until_it_is_gone(cache: Path) -> None:
    async def scenario() -> None:
        box = await sandbox(cache)
        arguments = ("python", "attack.py", "daemons", "3")
        launched = await box.launch(Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=arguments))
        assert not isinstance(launched, Absent), launched
        await launched.read(4096)
        assert PARENT is not None
        [folder] = PARENT.glob(f"hallmark-{os.getpid()}-*")
        inside = list_descendants(launched._init.pid)  # type: ignore[attr-defined]
        listed = members(folder)
        assert [pid for pid in inside if pid not in listed and alive(pid)] == []
        assert len(listed) >= 4  # the first process, the script and some of its daemons
        await launched.stop()
        assert not folder.exists()

    asyncio.run(scenario())


def test_box_that_the_kernel_stops_for_memory_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "measure_private_memory", lambda _: 0)  # faster than any watchdog
    monkeypatch.setattr(cgroup, "SLACK", 0)
    limits = replace(Limits(), memory=40 * MIB, scratch=MIB, shared_memory=MIB)
    _, end = attack(cache, "memory", "200", limits=limits)
    assert (end.code, end.stderr) == (None, "sandbox: stopped at the memory limit of 40 MiB")


def test_what_the_killed_left_is_ended_at_once() -> None:
    assert PARENT is not None
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    folder = PARENT / f"hallmark-{gone.pid}-{cgroup._namespace()}-0"
    folder.mkdir()
    survivor = subprocess.Popen(["/bin/sleep", "60"])
    (folder / "cgroup.procs").write_text(str(survivor.pid))
    cgroup.remove_abandoned_groups()
    assert not folder.exists()
    assert survivor.wait() == -9


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends a part of its tree")
def test_an_ordinary_user_makes_groups_in_what_is_lent_to_it() -> None:
    lent = cgroup.ROOT / f"hallmark-lent-{os.getpid()}"
    own = lent / "own"
    own.mkdir(parents=True)
    try:
        (lent / "cgroup.subtree_control").write_text("+pids +memory")
        for path in (lent, lent / "cgroup.procs", lent / "cgroup.subtree_control", own, own / "cgroup.procs"):
            os.chown(path, unprivileged.STRANGER, unprivileged.STRANGER)  # as systemd does
        command = [*unprivileged.command("code")[:-2], "-c", LENT]
        environ = unprivileged.environment(Path("/")) | {"PYTHONDONTWRITEBYTECODE": "1"}
        enter = ["/bin/sh", "-c", f'echo $$ > {own}/cgroup.procs; exec "$@"', "sh", *command]
        done = subprocess.run(
            enter, cwd=unprivileged.REPOSITORY, env=environ, capture_output=True, text=True, check=False
        )
        made = Path(done.stdout.strip())
        assert made.parent == lent, done.stderr
        assert (made / "pids.max").read_text().strip() == str(Limits().processes + 1)
        made.rmdir()
    finally:
        for path in (own, lent):
            path.rmdir()
