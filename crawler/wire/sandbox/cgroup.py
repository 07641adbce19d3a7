"""A pids control group for each box where we may make one: a second cap on processes, counted by the kernel."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

V1 = Path("/sys/fs/cgroup/pids")
V2 = Path("/sys/fs/cgroup")


def enclose(init: int, processes: int) -> Path | None:
    """Put a box's first process, still waiting at the gate, into a group of its own; None where that is not allowed."""
    parent = _writable_parent()
    if parent is None:
        return None
    group = parent / f"hallmark-{os.getpid()}-{init}"
    try:
        group.mkdir()
        (group / "pids.max").write_text(str(processes), "ascii")
        (group / "cgroup.procs").write_text(str(init), "ascii")
    except OSError:
        dissolve(group)
        return None
    return group


def dissolve(group: Path) -> None:
    """Remove a group whose processes are gone."""
    with contextlib.suppress(OSError):
        group.rmdir()


def _writable_parent() -> Path | None:
    if os.access(V1 / "cgroup.procs", os.W_OK):
        return V1
    try:
        enabled = (V2 / "cgroup.subtree_control").read_text("ascii").split()
    except OSError:
        return None
    return V2 if "pids" in enabled and os.access(V2 / "cgroup.procs", os.W_OK) else None
