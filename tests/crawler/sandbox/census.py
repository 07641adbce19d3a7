"""Lists what this process and the machine hold of boxes; the difference of two lists shows leaks."""

from __future__ import annotations

import ctypes
import gc
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from crawler.sandbox.boxes.process_tree import list_descendants

PR_SET_CHILD_SUBREAPER = 36
# The host user ids that belong to the sandbox when it is run as root (crawler/sandbox/kernel/user_ids.py).
FIRST_UID, LAST_UID = 64100, 64199
STAGES = ("/mnt", "/media", "/srv", "/opt", "/run")
# Other processes of a run of tests make files of these names meanwhile, as the same user.
BESIDE = ("hallmark-", "pytest-", "PostgreSQL.", "pym-", "sem.", "tmp")
# Grows by design, with what is installed or up to the number of user ids; a census compares everything else.
KEPT = ("downloads", "rootfs", "slots", "tools")


@dataclass(frozen=True, slots=True)
class Census:
    """Names of everything that a box may leave behind; each a set, so that a difference names the culprit."""

    processes: frozenset[str]
    mounts: frozenset[str]
    cgroups: frozenset[str]
    temporary: frozenset[str]
    messages: frozenset[str]
    descriptors: frozenset[str]
    cache: frozenset[str]

    def leaks(self, since: Census) -> list[str]:
        """What is here now and was not in `since`, as `kind: name`; empty when nothing was left behind."""
        return [
            f"{kind.name}: {name}"
            for kind in fields(self)
            for name in sorted(getattr(self, kind.name) - getattr(since, kind.name))
        ]


def adopt_orphans() -> None:
    """Become the parent of whatever outlives its parent below us, so that no survivor leaves our sight."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def bury_orphans() -> int:
    """Take notice of the dead that were left to us, as pid 1 does; how many. Only while no box is running."""
    count = 0
    for pid in list_descendants(os.getpid())[1:]:
        try:
            inside = "NSpid:\t" in (table := _text(Path(f"/proc/{pid}/status"))) and table.split("NSpid:\t")[1]
            if len(inside.split("\n")[0].split()) > 1 and os.waitpid(pid, os.WNOHANG)[0]:
                count += 1
        except OSError:
            continue
    return count


def take(cache: Path) -> Census:
    """A census of this process, its descendants, and of what lies in `cache` and in the shared places of the host."""
    gc.collect()
    return Census(
        processes=frozenset(_processes(cache)),
        mounts=frozenset(_mounts(cache)),
        cgroups=frozenset(_cgroups()),
        temporary=frozenset(_temporary()),
        messages=frozenset(_messages()),
        descriptors=frozenset(_descriptors()),
        cache=frozenset(_cached(cache)),
    )


def resident() -> int:
    """Bytes of memory that this process holds and no file backs."""
    gc.collect()
    table = Path("/proc/self/status").read_text("ascii")
    return int(next(line.split()[1] for line in table.splitlines() if line.startswith("RssAnon"))) << 10


def _processes(cache: Path) -> Iterator[str]:
    """Living descendants, and other processes with a folder of the cache mounted; the dead wait to be reaped."""
    for pid in {*list_descendants(os.getpid())[1:], *_inside(cache)}:
        try:
            state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rsplit(")", 1)[1].split()
            line = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")[:80]
        except OSError:
            continue
        if state[0] != "Z":
            yield " ".join([str(pid), *line.split("\0")])


def _inside(cache: Path) -> Iterator[int]:
    """Boxes that have lost the process that started them; those of another cache are none of ours."""
    own = os.readlink("/proc/self/ns/mnt")
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if os.readlink(f"/proc/{pid}/ns/mnt") != own and str(cache) in _text(Path(f"/proc/{pid}/mountinfo")):
                yield pid
        except OSError:
            continue


def _mounts(cache: Path) -> Iterator[str]:
    for line in _text(Path("/proc/self/mountinfo")).splitlines():
        place = line.split()[4]
        if str(cache) in line or place.startswith(STAGES) or any(tag in line for tag in (" stage ", " scratch ")):
            yield line.split(" ", 2)[2]


def _cgroups() -> Iterator[str]:
    top = "/sys/fs/cgroup"
    for folder, names, _ in os.walk(top):
        depth = folder.count("/") - top.count("/")
        yield from (f"{folder}/{name}" for name in names if "hallmark" in name and str(os.getpid()) in name)
        if depth >= 2:
            names.clear()


def _temporary() -> Iterator[str]:
    """What a server's user id, or the sandbox under our own, put into a place that everybody may write to."""
    for top in (tempfile.gettempdir(), "/var/tmp", "/dev/shm"):
        try:
            entries = list(os.scandir(top))
        except OSError:
            continue
        for entry in entries:
            try:
                owner = entry.stat(follow_symlinks=False).st_uid
            except OSError:
                continue
            if FIRST_UID <= owner <= LAST_UID or (owner == os.geteuid() != 0 and not entry.name.startswith(BESIDE)):
                yield entry.path


def _messages() -> Iterator[str]:
    """System V queues, semaphores and segments: they outlive their makers unless their namespace dies with them."""
    for kind in ("msg", "sem", "shm"):
        try:
            rows = Path(f"/proc/sysvipc/{kind}").read_text("ascii").splitlines()
        except OSError:
            continue
        yield from (f"{kind} {row}" for row in rows[1:] if any(_ours(word) for word in row.split()[3:10]))


def _ours(word: str) -> bool:
    return word.isdigit() and FIRST_UID <= int(word) <= LAST_UID


def _descriptors() -> Iterator[str]:
    """Our open descriptors as `target (how many)`: a descriptor that is made anew each time has another number."""
    count: dict[str, int] = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}").split(":[")[0]
        except OSError:
            continue
        count[target] = count.get(target, 0) + 1
    for target, times in count.items():
        yield from (f"{target} ({number})" for number in range(1, times + 1))


def _cached(cache: Path) -> Iterator[str]:
    for folder, names, files in os.walk(cache):
        here = Path(folder)
        if here == cache:
            names[:] = [name for name in names if name not in KEPT]
        if here.parent == cache / "layers":  # one name stands for a layer
            names.clear()
        else:
            yield from (str((here / name).relative_to(cache)) for name in (*names, *files))


def _text(path: Path) -> str:
    return path.read_text("utf-8", "surrogateescape")
