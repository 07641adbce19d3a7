"""Resources of a box that no kernel limit counts: temporary files, and memory in socket buffers."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.sandbox.kernel.limits import Limits

SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108


def find_exceeded_limit(init: int, limits: Limits) -> str | None:
    """A text for the limit that the box exceeds; None if it exceeds none. `init`: the pid of its first process."""
    if max(count_files(init, place) for place in SCRATCH) > limits.scratch_inodes:
        return f"limit of {limits.scratch_inodes} temporary files"
    if count_sockets(init) > limits.sockets:
        return f"limit of {limits.sockets} sockets"
    return None


def count_files(init: int, place: str) -> int:
    """The number of files and folders in a memory file system of a box; 0 if it is gone or not the box's own.

    bubblewrap's memory file systems have no limit on inodes, unlike those that root prepares.
    """
    root = f"/proc/{init}/root"
    try:
        handle = os.open(
            root + place, os.O_PATH | os.O_CLOEXEC
        )  # opened once, since the box may still mount file systems
    except OSError:
        return 0
    try:
        device = os.fstat(handle).st_dev
        if device in (os.stat(place).st_dev, os.stat(root).st_dev):  # noqa: PTH116
            return 0
        found = os.statvfs(handle)
    except OSError:
        return 0
    finally:
        os.close(handle)
    return found.f_files - found.f_ffree


def count_sockets(init: int) -> int:
    """The number of sockets in the network namespace of a box, including those inside messages; 0 if it is gone.

    Each may hold 400 KiB that count for no process, so 64 processes could fill the memory (unix(7), tcp(7)).
    """
    try:
        first = Path(f"/proc/{init}/net/sockstat").read_text("ascii").split("\n", 1)[0]
        return int(first.removeprefix("sockets: used "))
    except (OSError, ValueError):
        return 0
