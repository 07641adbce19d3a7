"""Preparation of the child of a box between fork and exec: private mounts with own inodes, limits, and a user id.

The mounts are in a mount namespace of the child, so they vanish with it, and a cache below a home folder that only
root may enter works too. Each read-only folder is mounted as an overlay: its files are those of the host, its inodes
are the box's own, so that locks, leases and watches on them reach neither other boxes nor the host.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from crawler.sandbox.boxes.box import DEVICES, Bind, Scratch
from crawler.sandbox.kernel.libc import load_libc
from crawler.sandbox.kernel.limits import RUN, Limits

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
STAGE_FOLDERS = ("/mnt", "/media", "/srv", "/opt", "/run")
# What the boxes of one ordinary user would otherwise take from each other: the kernel counts these per user.
USER_LIMITS = {"max_inotify_instances": 8, "max_inotify_watches": 2048}


class MountStage(Struct, frozen=True):
    """The paths at which sources are mounted (host path to mounted path), and the memory file systems.

    `overlaid`: the places that get own inodes. `empty`: an empty folder, since a read-only overlay needs two.
    """

    folder: str
    places: Mapping[Path, str]
    overlaid: Sequence[str]
    empty: str
    scratch: Scratch


def plan_stage(binds: Sequence[Bind], *, devices: bool) -> MountStage:
    """Choose a folder for the mounts that hides no source. `devices`: with own device nodes, which only root makes."""
    real = [bind.source.resolve() for bind in binds]
    for folder in STAGE_FOLDERS:
        if Path(folder).is_dir() and not Path(folder).is_symlink() and not any(r.is_relative_to(folder) for r in real):
            places = {bind.source: f"{folder}/{number}" for number, bind in enumerate(binds)}
            overlaid = [places[bind.source] for bind in binds if not bind.writable and bind.source.is_dir()]
            scratch = Scratch(f"{folder}/scratch", f"{folder}/shared", f"{folder}/devices" if devices else "/dev")
            return MountStage(folder, places, overlaid, f"{folder}/empty", scratch)
    raise OSError("none of the folders /mnt, /media, /srv, /opt and /run is free to stage the sandbox's mounts on")


@cache
def can_mount_as_user() -> bool:
    """Whether an ordinary user's child may mount in a user namespace of its own; where AppArmor lets only bubblewrap
    do that, boxes are made without preparation. Cached: the trial costs a process.
    """
    try:
        prepare = make_child_preparation(plan_stage((), devices=False), RUN, None)
        subprocess.run(["/bin/true"], env={}, check=True, preexec_fn=prepare)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def make_child_preparation(stage: MountStage, limits: Limits, uid: int | None) -> Callable[[], None]:
    """The function for the forked child, which becomes `uid`; None: it stays us, in a user namespace of its own."""
    become = _own_namespace() if uid is None else _own_user_id(limits, uid)
    mount_all = _mounts(stage, limits, os.getuid() if uid is None else uid, os.getgid() if uid is None else uid)

    def prepare() -> None:
        # A batch process does not preempt others when it wakes up, so many that wake each other starve no other box.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        if uid is None:  # before the mounts, which it permits
            become()
        mount_all()
        if uid is not None:  # after the mounts, for which it has no permission
            become()

    return prepare


def _own_namespace() -> Callable[[], None]:
    unshare, uid, gid = load_libc().unshare, os.getuid(), os.getgid()
    maps = {"setgroups": "deny", "uid_map": f"{uid} {uid} 1", "gid_map": f"{gid} {gid} 1"}

    def become() -> None:
        _check(unshare(CLONE_NEWUSER))
        for name, text in maps.items():
            _write(f"/proc/self/{name}", text)
        for name, most in USER_LIMITS.items():
            with contextlib.suppress(OSError):  # /proc/sys cannot be written in some containers
                _write(f"/proc/sys/user/{name}", str(most))

    return become


def _own_user_id(limits: Limits, uid: int) -> Callable[[], None]:
    resources = (*limits.resources(), (resource.RLIMIT_NPROC, limits.processes))

    def become() -> None:
        for number, most in resources:
            resource.setrlimit(number, (most, most))
        os.nice(5)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)

    return become


def _mounts(stage: MountStage, limits: Limits, uid: int, gid: int) -> Callable[[], None]:
    """The mounts. Everything that they need is allocated before the fork."""
    library = load_libc()
    binds = [(os.fsencode(source), os.fsencode(place), source.is_dir()) for source, place in stage.places.items()]
    overlays = [(place.encode(), f"lowerdir={place}:{stage.empty}".encode()) for place in stage.overlaid]
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    tail = f"nr_inodes={limits.scratch_inodes},mode=700,uid={uid},gid={gid}"
    scratch = stage.scratch
    memory = [
        (scratch.tmp.encode(), f"size={limits.scratch},{tail}".encode()),
        (scratch.shm.encode(), f"size={limits.shared_memory},{tail}".encode()),
    ]

    def mount_all() -> None:
        _check(library.unshare(CLONE_NEWNS))
        _check(library.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
        _check(library.mount(b"stage", stage.folder.encode(), b"tmpfs", flags & ~MS_NOEXEC, b"size=65536,mode=755"))
        os.mkdir(stage.empty)  # noqa: PTH102
        for source, place, is_dir in binds:
            os.mkdir(place) if is_dir else os.close(os.open(place, os.O_CREAT | os.O_WRONLY))  # noqa: PTH102
            _check(library.mount(source, place, None, MS_BIND, None))
        for place, lower in overlays:  # some file systems refuse; then the box has the inodes of the host
            library.mount(b"overlay", place, b"overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, lower)
        for place, size in memory:
            os.mkdir(place)  # noqa: PTH102
            _check(library.mount(b"scratch", place, b"tmpfs", flags, size))
        if scratch.devices != "/dev":
            os.mkdir(scratch.devices)  # noqa: PTH102
            _check(library.mount(b"devices", scratch.devices.encode(), b"tmpfs", flags & ~MS_NODEV, b"size=4096"))
            for name in DEVICES:
                _make_device(name, scratch.devices, library)

    return mount_all


def _make_device(name: str, folder: str, library: ctypes.CDLL) -> None:
    """A device node with an inode of its own, or that of the host where a container may make none."""
    host, own = f"/dev/{name}", f"{folder}/{name}"
    try:
        os.mknod(own, stat.S_IFCHR, os.stat(host).st_rdev)  # noqa: PTH116
        os.chmod(own, 0o666)  # noqa: PTH101, S103 (as that of the host)
    except OSError:
        os.close(os.open(own, os.O_CREAT | os.O_WRONLY))
        _check(library.mount(host.encode(), own.encode(), None, MS_BIND, None))


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), "the mounts of a box")
