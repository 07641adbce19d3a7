"""Reaps orphaned processes in environments in which process 1 would leave them as zombies."""

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
REAP_SECONDS: Final = 0.05  # in which process 1 must reap an orphan; in a container each scan waits for them
_POLL: Final = 0.01
_ENDING: Final = 10.0  # seconds; longer if a process that was forked meanwhile holds the pipe
# Prints the pid of a background process that waits for the end of its input. Uses descriptor 3, since few shells
# support descriptors above 9, and background processes get an empty stdin.
_START_ORPHAN: Final = "exec 3<&0; (read -r _ <&3) >/dev/null & echo $!"


def become_subreaper_if_needed() -> bool:
    """Become the subreaper of our descendants unless process 1 reaps orphans; whether orphans come to us.

    bubblewrap does not wait for the first process of a box that ends by itself; the stop of the box reaps it by its
    pidfd. Apart from that, only Podman leaves orphans.
    """
    if os.getpid() == 1 or _is_adopting():
        return True
    try:
        orphan = _start_orphan()
    except (OSError, ValueError):  # there is no shell to test with
        return False
    if _is_reaped(orphan):
        return False
    load_libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return True


def reap_group(group: int) -> None:
    """Reap all our children in a killed process group, including adopted ones."""
    while True:
        try:
            os.waitid(os.P_PGID, group, os.WEXITED)
        except ChildProcessError:
            return


def reap_named(name: str, pids: Iterable[int]) -> None:
    """Reap the ended processes among `pids` with this name, which must be a program that we never start ourselves."""
    for pid in pids:
        with contextlib.suppress(OSError):  # gone, or not our child
            if Path(f"/proc/{pid}/stat").read_bytes().startswith(f"{pid} ({name}) Z ".encode()):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def _is_adopting() -> bool:
    found = ctypes.c_int(0)
    load_libc().prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)


def _start_orphan() -> int:
    """A pidfd of a process without parent that is about to end."""
    theirs, ours = os.pipe()
    try:
        pid = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", _START_ORPHAN],
            env={},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        ).stdout
        return os.pidfd_open(int(pid))
    finally:
        os.close(theirs)
        os.close(ours)


def _is_reaped(orphan: int) -> bool:
    """Whether process 1 reaps the orphan in time."""
    try:
        if not select.select([orphan], [], [], _ENDING)[0]:  # it does not end: the result is unknown
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
