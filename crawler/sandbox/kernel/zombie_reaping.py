"""Processes left without a parent come to us where process 1 would leave them as zombies."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from crawler.sandbox.kernel.libc import load_libc

PR_SET_CHILD_SUBREAPER: Final = 36
PR_GET_CHILD_SUBREAPER: Final = 37
REAP_SECONDS: Final = 0.5  # seconds that whoever gets an orphan may take to bury it
_POLL: Final = 0.01
_ENDING: Final = 10.0  # seconds; its input is closed, unless a process forked meanwhile holds the other end
# Names a process that waits for the end of its input, and leaves it alone. Few shells know descriptors above 9, and all
# give what they leave an empty input.
_LEAVE: Final = "exec 3<&0; (read -r _ <&3) >/dev/null & echo $!"


def become_subreaper_if_needed() -> bool:
    """Have what our children leave behind come to us unless it is buried elsewhere; whether it comes to us.

    bubblewrap does not wait for the first process of a box that ends by itself: who stops the box buries it then, by
    its descriptor. Besides, only Podman leaves processes without a parent.
    """
    if os.getpid() == 1 or _is_adopting():
        return True
    try:
        orphan = _orphan()
    except (OSError, ValueError):  # there is no shell: nobody can be asked
        return False
    if _is_buried(orphan):
        return False
    load_libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return True


def reap_group(group: int) -> None:
    """Wait for every child of ours in a process group that was killed, those that came to us included."""
    while True:
        try:
            os.waitid(os.P_PGID, group, os.WEXITED)
        except ChildProcessError:
            return


def reap_named(name: str, pids: Iterable[int]) -> None:
    """Bury those of `pids` that ended, were called `name`, and were left to us: of a program that we never start."""
    for pid in pids:
        with contextlib.suppress(OSError):  # gone, or somebody else's child
            if Path(f"/proc/{pid}/stat").read_bytes().startswith(f"{pid} ({name}) Z ".encode()):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def _is_adopting() -> bool:
    found = ctypes.c_int(0)
    load_libc().prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)


def _orphan() -> int:
    """A handle on a process that lost its parent and is about to end."""
    theirs, ours = os.pipe()
    try:
        said = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", _LEAVE],
            env={},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        ).stdout
        return os.pidfd_open(int(said))
    finally:
        os.close(theirs)
        os.close(ours)


def _is_buried(orphan: int) -> bool:
    """Whether its end is reaped in time."""
    try:
        if not select.select([orphan], [], [], _ENDING)[0]:  # it does not end: nothing can be said of its burial
            return True
        until = time.monotonic() + REAP_SECONDS
        while time.monotonic() < until:
            try:
                signal.pidfd_send_signal(orphan, 0)  # a zombie still takes signals
            except ProcessLookupError:
                return True
            time.sleep(_POLL)
        return False
    finally:
        os.close(orphan)
