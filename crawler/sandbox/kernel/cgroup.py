"""A control group for each box where we may make one: caps that the kernel counts, and its list of the processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crawler.sandbox.kernel.limits import MIB, Limits

ROOT: Final = Path("/sys/fs/cgroup")
OWN: Final = Path("/proc/self/cgroup")
# Beyond what the watchdog allows, which says why it kills: files in memory and the kernel's own are counted here too.
SLACK: Final = 128 * MIB
PERIOD: Final = 100_000  # microseconds
_TRIES, _PAUSE = 200, 0.01  # two seconds, which the kernel may take to end what a sweep killed
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The group of one box, which is one folder for each controller of version 1 and a single one in version 2.

    `doors` are open for a forked child to enter by; without any, only others can put it in.
    """

    folders: tuple[Path, ...]
    doors: tuple[int, ...]

    def enter(self) -> None:
        """Become a member; for a forked child, before its exec, so that all it ever starts is inside."""
        # Nobody else's task but its own single one: that is moved in 0.05 ms. For any other move the kernel first waits
        # until no task of the whole machine is between two states, which took 6 to 30 ms.
        for door in self.doors:
            with contextlib.suppress(OSError):
                os.write(door, b"0")

    async def admit(self, pid: int) -> None:
        """Put a box's first process in, where it could not enter by itself."""
        for folder in () if self.doors else self.folders:
            with contextlib.suppress(OSError):
                await asyncio.to_thread((folder / "cgroup.procs").write_text, str(pid), "ascii")

    def close(self) -> None:
        """Give the doors back once the child is through."""
        for door in self.doors:
            os.close(door)

    def starved(self) -> bool:
        """Whether the kernel killed a member because all together had too much memory."""
        return any(
            _killed(folder / name) for folder in self.folders for name in ("memory.events", "memory.oom_control")
        )

    def remove_group(self) -> None:
        """Remove the group of a box whose processes are gone."""
        for folder in self.folders:
            _remove(folder)

    async def wait_until_removed(self) -> None:
        """The same, as a box's last step."""
        self.remove_group()


def create_group(limits: Limits) -> ControlGroup | None:
    """A new, empty group that holds a box to `limits`; None where we may not make one."""
    folders: list[Path] = []
    doors: list[int] = []
    for parent, settings in _parents(limits):
        folder = _made(parent)
        if folder is None:
            continue
        if not _set(folder, settings):
            _remove(folder)
            continue
        folders.append(folder)
        if (folder / "tasks").exists():  # version 1
            doors.append(os.open(folder / "tasks", os.O_WRONLY | os.O_CLOEXEC))
    return ControlGroup(tuple(folders), tuple(doors)) if folders else None


def remove_abandoned_groups() -> None:
    """End what outlived a process of ours that was killed, and remove its groups; blocks while that dies.

    A box whose starter is killed between two system calls of bubblewrap waits for ever for a word of it.
    """
    for parent, _ in _parents(Limits()):
        for folder in parent.glob(f"hallmark-*-{_namespace()}-*"):
            if Path(f"/proc/{folder.name.split('-')[1]}").exists():
                continue
            _clear(folder)


def _parents(limits: Limits) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Where groups may be made, and what is to be written into one there; the first setting is what it is made for."""
    memory, quota = str(limits.memory + limits.scratch + limits.shared_memory + SLACK), round(limits.cpus * PERIOD)
    # One more than the box may have: whoever waits for it on our side is a member as well.
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
    """The folder of version 2 in which we may make groups: beside our own group, which a session lends its user."""
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


def _set(folder: Path, settings: Mapping[str, str]) -> bool:
    """Write every setting that the kernel knows; whether the first one holds."""
    held = []
    for name, value in settings.items():
        try:
            (folder / name).write_text(value, "ascii")
        except OSError:  # a controller that is not enabled, no swap to be limited
            held.append(False)
        else:
            held.append(True)
    return held[0]


def _killed(file: Path) -> bool:
    try:
        rows = dict(line.split(" ", 1) for line in file.read_text("ascii").splitlines() if " " in line)
    except OSError:
        return False
    return rows.get("oom_kill", "0") != "0"


def _clear(folder: Path) -> None:
    for _ in range(_TRIES):
        if _remove(folder):
            return
        _kill_members(folder)
        time.sleep(_PAUSE)


def _made(parent: Path) -> Path | None:
    for number in _numbers:
        folder = parent / f"hallmark-{os.getpid()}-{_namespace()}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:  # of a dead process that had our id
            continue
        except OSError:
            return None
        return folder
    return None


def _namespace() -> int:
    """The pid namespace in which our process id means us: containers may share a tree of groups."""
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
    with contextlib.suppress(OSError):  # all at once, so that none forks meanwhile; version 2, Linux 5.14
        (folder / "cgroup.kill").write_text("1", "ascii")
        return
    with contextlib.suppress(OSError, ValueError):
        for pid in map(int, (folder / "cgroup.procs").read_text("ascii").split()):
            os.kill(pid, signal.SIGKILL)
