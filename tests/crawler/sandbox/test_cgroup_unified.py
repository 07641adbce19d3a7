"""Control groups of version 2, in a folder that imitates the kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.sandbox import Limits
from crawler.sandbox.kernel import cgroup

LIMITS = Limits(processes=9, memory=100 << 20, scratch=0, shared_memory=0, cpus=1.5)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with our own group in a session that was lent to us."""
    for folder in (tmp_path, tmp_path / "session"):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.procs").touch()
        (folder / "cgroup.subtree_control").write_text("cpu memory pids\n")
    own = tmp_path / "own"
    own.write_text("1:name=systemd:/x\n0::/session/ours.scope\n")
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "OWN", own)
    return tmp_path


def test_one_group_beside_our_own_holds_every_cap(tree: Path) -> None:
    group = cgroup.create_group(LIMITS)
    assert group is not None
    [folder] = group.folders
    assert (folder.parent, group.task_files) == (tree / "session", ())
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "pids.max": "10",
        "memory.max": str((100 << 20) + cgroup.SLACK),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.weight": "50",
        "cpu.max": "150000 100000",
    }


def test_root_is_used_where_the_session_lends_nothing(tree: Path) -> None:
    (tree / "session" / "cgroup.subtree_control").write_text("")
    group = cgroup.create_group(LIMITS)
    assert group is not None
    assert group.folders[0].parent == tree


def test_no_group_is_made_where_none_may_be(tree: Path) -> None:
    for folder in (tree, tree / "session"):
        (folder / "cgroup.subtree_control").write_text("memory\n")
    assert cgroup.create_group(LIMITS) is None


def test_path_that_leads_out_of_the_tree_is_not_followed(tree: Path) -> None:
    (tree / "own").write_text("0::/../../outside/ours.scope\n")
    (tree / "cgroup.subtree_control").write_text("")
    assert cgroup.create_group(LIMITS) is None


@pytest.mark.parametrize(("events", "starved"), [("low 0\noom_kill 2\n", True), ("oom 1\noom_kill 0\n", False)])
def test_kills_for_memory_are_counted(tree: Path, events: str, starved: bool) -> None:
    group = cgroup.create_group(LIMITS)
    assert group is not None
    (group.folders[0] / "memory.events").write_text(events)
    assert group.starved() is starved
