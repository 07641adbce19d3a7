"""What a box takes of the machine that no resource limit counts: temporary files, and memory in socket buffers."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.sandbox.kernel.limits import Limits

SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108


def find_exceeded_limit(init: int, limits: Limits) -> str | None:
    """The limit that the box of a first process exceeds, in words; None while it exceeds none."""
    if max(count_files(init, place) for place in SCRATCH) > limits.scratch_inodes:
        return f"limit of {limits.scratch_inodes} temporary files"
    if count_sockets(init) > limits.sockets:
        return f"limit of {limits.sockets} sockets"
    return None


def count_files(init: int, place: str) -> int:
    """How many files and folders one of a box's memory file systems holds; 0 where it is gone or not the box's own.

    bubblewrap's file systems have no cap on inodes, unlike those that root prepares.
    """
    root = f"/proc/{init}/root"
    try:
        handle = os.open(root + place, os.O_PATH | os.O_CLOEXEC)  # one look: the box may still be mounting
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
    """How many sockets there are in a box's network namespace, those on their way in messages included; 0 when gone.

    Each may hold 400 KiB that belong to no process, so 64 processes could fill the machine (unix(7), tcp(7)).
    """
    try:
        first = Path(f"/proc/{init}/net/sockstat").read_text("ascii").split("\n", 1)[0]
        return int(first.removeprefix("sockets: used "))
    except (OSError, ValueError):
        return 0
