"""A pids control group for each box where we may make one: a second cap on processes, and the kernel's list of them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

V1: Final = Path("/sys/fs/cgroup/pids")
V2: Final = Path("/sys/fs/cgroup")
_TRIES, _PAUSE = 200, 0.01  # two seconds, which the kernel may take to end what a sweep killed
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Group:
    """The group of one box. `door` is open for a forked child to enter by, None where only others can put it in."""

    folder: Path
    door: int | None

    def enter(self) -> None:
        """Become a member; for a forked child, before its exec, so that all it ever starts is inside."""
        # Nobody else's task but its own single one: that is moved in 0.05 ms. For any other move the kernel first waits
        # until no task of the whole machine is between two states, which took 6 to 30 ms.
        if self.door is not None:
            with contextlib.suppress(OSError):
                os.write(self.door, b"0")

    async def admit(self, pid: int) -> None:
        """Put a box's first process in, where it could not enter by itself."""
        if self.door is None:
            with contextlib.suppress(OSError):
                await asyncio.to_thread((self.folder / "cgroup.procs").write_text, str(pid), "ascii")

    def close(self) -> None:
        """Give the door back once the child is through."""
        if self.door is not None:
            os.close(self.door)

    def dissolve(self) -> None:
        """Remove the group of a box whose processes are gone."""
        _remove(self.folder)

    async def dissolved(self) -> None:
        """The same, as a box's last step."""
        self.dissolve()


def found(processes: int) -> Group | None:
    """A new, empty group for at most `processes`; None where we may not make one."""
    parent = _writable_parent()
    if parent is None:
        return None
    folder = _made(parent)
    if folder is None:
        return None
    try:
        # One more than the box may have: whoever waits for it on our side is a member as well.
        (folder / "pids.max").write_text(str(processes + 1), "ascii")
        return Group(folder, os.open(folder / "tasks", os.O_WRONLY | os.O_CLOEXEC) if parent == V1 else None)
    except OSError:
        _remove(folder)
        return None


def sweep() -> None:
    """End what outlived a process of ours that was killed, and remove its groups; blocks while that dies.

    A box whose starter is killed between two system calls of bubblewrap waits for ever for a word of it.
    """
    for parent in (V1, V2):
        for folder in parent.glob(f"hallmark-*-{_namespace()}-*"):
            if Path(f"/proc/{folder.name.split('-')[1]}").exists():
                continue
            _clear(folder)


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
    with contextlib.suppress(OSError, ValueError):
        for pid in map(int, (folder / "cgroup.procs").read_text("ascii").split()):
            os.kill(pid, signal.SIGKILL)


def _writable_parent() -> Path | None:
    if os.access(V1 / "cgroup.procs", os.W_OK):
        return V1
    try:
        enabled = (V2 / "cgroup.subtree_control").read_text("ascii").split()
    except OSError:
        return None
    return V2 if "pids" in enabled and os.access(V2 / "cgroup.procs", os.W_OK) else None
