"""Preparation of a child of root between fork and exec: private mounts, a limited /tmp, limits, and its own user id.

The mounts are in a mount namespace of the child, so they vanish with it, and a cache below a home folder that only
root may enter works too.
"""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.sandbox.boxes.box import Scratch
from crawler.sandbox.kernel.libc import load_libc
from crawler.sandbox.kernel.limits import Limits

CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
STAGE_FOLDERS = ("/mnt", "/media", "/srv", "/opt", "/run")


@dataclass(frozen=True, slots=True)
class MountStage:
    """The paths at which sources are mounted (host path to mounted path), and the memory file systems."""

    folder: str
    places: Mapping[Path, str]
    scratch: Scratch


def plan_stage(sources: Sequence[Path]) -> MountStage:
    """Choose a folder for the mounts that hides none of the `sources`."""
    real = [source.resolve() for source in sources]
    for folder in STAGE_FOLDERS:
        if Path(folder).is_dir() and not Path(folder).is_symlink() and not any(r.is_relative_to(folder) for r in real):
            places = {source: f"{folder}/{number}" for number, source in enumerate(dict.fromkeys(sources))}
            return MountStage(folder, places, Scratch(f"{folder}/scratch", f"{folder}/shared"))
    raise OSError("none of the folders /mnt, /media, /srv, /opt and /run is free to stage the sandbox's mounts on")


def make_child_preparation(chosen: MountStage, limits: Limits, uid: int) -> Callable[[], None]:
    """The function for the forked child. Everything that it needs is allocated before the fork."""
    library = load_libc()
    binds = [(os.fsencode(source), os.fsencode(place), source.is_dir()) for source, place in chosen.places.items()]
    folder = chosen.folder.encode()
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    tail = f"nr_inodes={limits.scratch_inodes},mode=700,uid={uid},gid={uid}"
    memory = [
        (chosen.scratch.tmp.encode(), f"size={limits.scratch},{tail}".encode()),
        (chosen.scratch.shm.encode(), f"size={limits.shared_memory},{tail}".encode()),
    ]
    resources = (*limits.resources(), (resource.RLIMIT_NPROC, limits.processes))

    def check(result: int) -> None:
        if result:
            raise OSError(ctypes.get_errno(), "mount")

    def prepare() -> None:
        check(library.unshare(CLONE_NEWNS))
        check(library.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
        check(library.mount(b"stage", folder, b"tmpfs", flags & ~MS_NOEXEC, b"size=65536,mode=755"))
        for source, place, is_dir in binds:
            os.mkdir(place) if is_dir else os.close(os.open(place, os.O_CREAT | os.O_WRONLY))  # noqa: PTH102
            check(library.mount(source, place, None, MS_BIND, None))
        for place, size in memory:
            os.mkdir(place)  # noqa: PTH102
            check(library.mount(b"scratch", place, b"tmpfs", flags, size))
        for number, most in resources:
            resource.setrlimit(number, (most, most))
        os.nice(5)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)

    return prepare
