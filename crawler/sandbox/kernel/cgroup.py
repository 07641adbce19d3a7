"""A control group for each box, where we may create one: the kernel enforces limits and lists the processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from crawler.sandbox.kernel.limits import MIB, Limits

ROOT: Final = Path("/sys/fs/cgroup")
OWN: Final = Path("/proc/self/cgroup")
# More than the limit of the watchdog, which can report why it kills: memory files and kernel memory count here too.
SLACK: Final = 128 * MIB
PERIOD: Final = 100_000  # microseconds
CPU_SHARES: Final = ("cpu.shares", "cpu.weight")
"""In every group of the controller of processors: version 1, version 2."""

_TRIES, _PAUSE = 200, 0.01  # two seconds for the kernel to end killed processes
_numbers = itertools.count()


class ControlGroup(Struct, frozen=True):
    """The group of one box: one folder per controller in version 1, a single folder in version 2.

    `task_files`: descriptors with which a forked child can enter the group by itself (version 1).
    """

    folders: tuple[Path, ...]
    task_files: tuple[int, ...]

    def enter(self) -> None:
        """Enter the group; called by a forked child before its exec, so that all its descendants are members."""
        # A task moves itself in 0.05 ms. To move another task, the kernel waits until no task of the machine is between
        # two states, which took 6 to 30 ms.
        for file in self.task_files:
            with contextlib.suppress(OSError):
                os.write(file, b"0")

    async def add_process(self, pid: int) -> None:
        """Add the first process of a box, if it could not enter by itself."""
        for folder in () if self.task_files else self.folders:
            with contextlib.suppress(OSError):
                await asyncio.to_thread((folder / "cgroup.procs").write_text, str(pid), "ascii")

    def close(self) -> None:
        """Close the task files after the child has entered."""
        for file in self.task_files:
            os.close(file)

    def shares_processors(self, pid: int) -> bool:
        """Whether the kernel shares the processors among groups, and not among sessions, for this process."""
        groups = {folder.name for folder in self.folders if any((folder / name).exists() for name in CPU_SHARES)}
        try:
            lines = Path(f"/proc/{pid}/cgroup").read_text("ascii", "replace").splitlines()
        except OSError:
            return False
        return any(line.rpartition("/")[2] in groups for line in lines)

    def starved(self) -> bool:
        """Whether the kernel killed a member because of the memory limit of the group."""
        return any(
            _has_oom_kill(folder / name) for folder in self.folders for name in ("memory.events", "memory.oom_control")
        )

    def remove_group(self) -> None:
        """Remove the group after the end of all its processes."""
        for folder in self.folders:
            _remove(folder)

    async def remove_after_stop(self) -> None:
        """`remove_group` as a step of `ContainedProcess.after_stop`."""
        self.remove_group()


def create_group(limits: Limits) -> ControlGroup | None:
    """Create an empty group that enforces `limits`; None if we may not create one."""
    folders: list[Path] = []
    task_files: list[int] = []
    for parent, settings in _parents(limits):
        folder = _make_group_folder(parent)
        if folder is None:
            continue
        if not _write_settings(folder, settings):
            _remove(folder)
            continue
        folders.append(folder)
        if (folder / "tasks").exists():  # version 1
            task_files.append(os.open(folder / "tasks", os.O_WRONLY | os.O_CLOEXEC))
    return ControlGroup(tuple(folders), tuple(task_files)) if folders else None


def remove_abandoned_groups() -> None:
    """Kill the boxes of dead Hallmark processes and remove their groups; blocks until they have ended.

    A box waits for ever at its gate if Hallmark is killed while bubblewrap sets the box up.
    """
    for parent, _ in _parents(Limits()):
        for folder in parent.glob(f"hallmark-*-{_namespace()}-*"):
            if Path(f"/proc/{folder.name.split('-')[1]}").exists():
                continue
            _kill_and_remove(folder)


def _parents(limits: Limits) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """The folders in which we may create groups, with the settings of a group; the first setting is mandatory."""
    memory, quota = str(limits.memory + limits.scratch + limits.shared_memory + SLACK), round(limits.cpus * PERIOD)
    # One more than the box may have: the bubblewrap process outside of the box is a member too.
    pids = {"pids.max": str(limits.processes + 1)}
    first = {
        "pids": pids,
        "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
        "cpu": {"cpu.shares": "512", "cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)},
    }
    for controller, settings in first.items():
        if _is_writable(ROOT / controller):
            yield ROOT / controller, settings
    parent = _unified()
    if parent is not None:
        swap = {"memory.max": memory, "memory.swap.max": "0", "memory.oom.group": "1"}
        yield parent, {**pids, **swap, "cpu.weight": "50", "cpu.max": f"{quota} {PERIOD}"}


def _unified() -> Path | None:
    """The folder of version 2 in which we may create groups: the parent of our own group, or the root."""
    try:
        lines = OWN.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    own = next((ROOT / line.removeprefix("0::/") for line in lines if line.startswith("0::/")), ROOT)
    for parent in (own.parent if own != ROOT else own, ROOT):
        with contextlib.suppress(OSError):
            enabled = (parent / "cgroup.subtree_control").read_text("ascii").split()
            if "pids" in enabled and parent.is_relative_to(ROOT) and _is_writable(parent):
                return parent
    return None


def _is_writable(parent: Path) -> bool:
    return os.access(parent / "cgroup.procs", os.W_OK)


def _write_settings(folder: Path, settings: Mapping[str, str]) -> bool:
    """Write all settings that the kernel supports; return whether the first one was accepted."""
    accepted = []
    for name, value in settings.items():
        try:
            (folder / name).write_text(value, "ascii")
            accepted.append(True)
        except OSError:  # the controller is not enabled, or there is no swap
            accepted.append(False)
    return accepted[0]


def _has_oom_kill(file: Path) -> bool:
    try:
        rows = dict(line.split(" ", 1) for line in file.read_text("ascii").splitlines() if " " in line)
    except OSError:
        return False
    return rows.get("oom_kill", "0") != "0"


def _kill_and_remove(folder: Path) -> None:
    for _ in range(_TRIES):
        if _remove(folder):
            return
        _kill_members(folder)
        time.sleep(_PAUSE)


def _make_group_folder(parent: Path) -> Path | None:
    for number in _numbers:
        folder = parent / f"hallmark-{os.getpid()}-{_namespace()}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:  # of a dead process with the same pid
            continue
        except OSError:
            return None
        return folder
    return None


def _namespace() -> int:
    """The id of our pid namespace, since containers may share a tree of groups."""
    return Path("/proc/self/ns/pid").stat().st_ino


def _remove(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _kill_members(folder: Path) -> None:
    with contextlib.suppress(OSError):  # kills all at once, so that none can fork; version 2, Linux 5.14
        (folder / "cgroup.kill").write_text("1", "ascii")
        return
    with contextlib.suppress(OSError, ValueError):
        for pid in map(int, (folder / "cgroup.procs").read_text("ascii").split()):
            os.kill(pid, signal.SIGKILL)
