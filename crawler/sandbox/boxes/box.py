"""One bubblewrap box as data: what is mounted where, as which command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.monitoring.decoys import HOME

# /dev/zero is missing on purpose: mapped shared, it is memory that no resource limit counts.
DEVICES = ("null", "random", "urandom")
WORK = "/tmp/work"  # noqa: S108 (an empty folder that servers may be told to work in)
NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")
BASE_ENVIRONMENT: Mapping[str, str] = {
    "HOME": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/opt/python/bin",
    "TMPDIR": "/tmp",  # noqa: S108
    "TZ": "UTC",
}


@dataclass(frozen=True, slots=True)
class Bind:
    """A host path at a place inside, read-only unless `writable`."""

    source: Path
    place: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Scratch:
    """Prepared memory file systems with a cap on inodes, which bubblewrap's own do not have."""

    tmp: str
    shm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Everything that decides what a command sees and may use; `watched`: what it does is observed, in a decoy home."""

    root: Path
    binds: tuple[Bind, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/tmp"  # noqa: S108
    limits: Limits
    watched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptors:
    """File descriptors that bubblewrap reads or writes while it sets up."""

    seccomp: int
    info: int
    gate: int


def bubblewrap_options(
    box: Box, places: Mapping[Path, str], scratch: Scratch | None, descriptors: Descriptors
) -> list[str]:
    """bubblewrap's options. `places` says where sources are reachable; `scratch` is memory prepared for it."""
    found = [f"--unshare-{name}" for name in NAMESPACES]
    found += ["--disable-userns", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
    found += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    home = {"HOME": HOME} if box.watched else {}
    for name, value in {**BASE_ENVIRONMENT, **home, **box.environment}.items():
        found += ["--setenv", name, value]
    found += ["--ro-bind", places[box.root], "/", "--proc", "/proc"]
    found += _devices(box.limits.shared_memory, scratch)
    for bind in box.binds:
        found += ["--bind" if bind.writable else "--ro-bind", places[bind.source], bind.place]
    found += _memory("/tmp", box.limits.scratch, scratch.tmp if scratch else None)  # noqa: S108
    found += ["--dir", WORK, *(["--dir", HOME] if box.watched else [])]
    found += ["--chdir", box.folder, "--seccomp", str(descriptors.seccomp)]
    return [*found, "--info-fd", str(descriptors.info), "--block-fd", str(descriptors.gate)]


def encode_options(found: Sequence[str]) -> bytes:
    """Options as `--args FD` reads them; raises ValueError for a NUL inside one."""
    if any("\0" in option for option in found):
        raise ValueError("an option for the sandbox contains a NUL character")
    return b"".join(option.encode("utf-8", "surrogateescape") + b"\0" for option in found)


def _memory(place: str, size: int, prepared: str | None) -> list[str]:
    return ["--bind", prepared, place] if prepared else ["--size", str(size), "--tmpfs", place]


def _devices(shared_memory: int, scratch: Scratch | None) -> list[str]:
    found = ["--size", "65536", "--tmpfs", "/dev"]
    for name in DEVICES:
        found += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        found += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    found += ["--symlink", "/proc/self/fd", "/dev/fd"]
    found += ["--dir", "/dev/shm"]  # noqa: S108
    found += _memory("/dev/shm", shared_memory, scratch.shm if scratch else None)  # noqa: S108
    return [*found, "--remount-ro", "/dev"]
