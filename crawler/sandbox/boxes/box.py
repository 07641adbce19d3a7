"""The description of one box, and the bubblewrap options that create it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.monitoring.decoys import HOME

# Without /dev/zero: a shared mapping of it is memory that no resource limit counts.
DEVICES = ("null", "random", "urandom")
# Files of /proc that show the user's keys and the locks of other boxes: they are empty inside.
HIDDEN = tuple(path for path in ("/proc/keys", "/proc/key-users", "/proc/locks") if Path(path).exists())
WORK = "/tmp/work"  # noqa: S108 (an empty folder for servers that need a working directory)
NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")
BASE_ENVIRONMENT: Mapping[str, str] = {
    "HOME": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/opt/python/bin",
    "TMPDIR": "/tmp",  # noqa: S108
    "TZ": "UTC",
}


class Bind(Struct, frozen=True):
    """A host path that is mounted at `place` inside, read-only unless `writable`."""

    source: Path
    place: str
    writable: bool = False


class Scratch(Struct, frozen=True):
    """Paths of prepared memory file systems, which have a limit on inodes; bubblewrap's own do not.

    `devices`: the folder of the device nodes.
    """

    tmp: str
    shm: str
    devices: str


class Box(Struct, frozen=True, kw_only=True):
    """Everything that a command can see and use. `watched`: its system calls are monitored, and its home has decoys."""

    root: Path
    binds: tuple[Bind, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/tmp"  # noqa: S108
    limits: Limits
    watched: bool = False


class Descriptors(Struct, frozen=True, kw_only=True):
    """File descriptors that bubblewrap reads or writes while it sets up."""

    seccomp: int
    info: int
    gate: int


def bubblewrap_options(
    box: Box, places: Mapping[Path, str], scratch: Scratch | None, descriptors: Descriptors
) -> list[str]:
    """The options of bubblewrap. `places` maps sources to reachable paths; `scratch`: prepared memory file systems."""
    options = [f"--unshare-{name}" for name in NAMESPACES]
    options += ["--disable-userns", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    home = {"HOME": HOME} if box.watched else {}
    for name, value in {**BASE_ENVIRONMENT, **home, **box.environment}.items():
        options += ["--setenv", name, value]
    options += ["--ro-bind", places[box.root], "/", "--proc", "/proc"]
    devices = scratch.devices if scratch else "/dev"
    for path in HIDDEN:
        options += ["--dev-bind", f"{devices}/null", path]
    options += _devices(box.limits.shared_memory, scratch, devices)
    for bind in box.binds:
        options += ["--bind" if bind.writable else "--ro-bind", places[bind.source], bind.place]
    options += _memory("/tmp", box.limits.scratch, scratch.tmp if scratch else None)  # noqa: S108
    options += ["--dir", WORK, *(["--dir", HOME] if box.watched else [])]
    options += ["--chdir", box.folder, "--seccomp", str(descriptors.seccomp)]
    return [*options, "--info-fd", str(descriptors.info), "--block-fd", str(descriptors.gate)]


def encode_options(options: Sequence[str]) -> bytes:
    """Options in the format of `--args FD`; raises ValueError if one contains a NUL character."""
    if any("\0" in option for option in options):
        raise ValueError("an option for the sandbox contains a NUL character")
    return b"".join(option.encode("utf-8", "surrogateescape") + b"\0" for option in options)


def _memory(place: str, size: int, prepared: str | None) -> list[str]:
    return ["--bind", prepared, place] if prepared else ["--size", str(size), "--tmpfs", place]


def _devices(shared_memory: int, scratch: Scratch | None, devices: str) -> list[str]:
    options = ["--size", "65536", "--tmpfs", "/dev"]
    for name in DEVICES:
        options += ["--dev-bind", f"{devices}/{name}", f"/dev/{name}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        options += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    options += ["--symlink", "/proc/self/fd", "/dev/fd"]
    options += ["--dir", "/dev/shm"]  # noqa: S108
    options += _memory("/dev/shm", shared_memory, scratch.shm if scratch else None)  # noqa: S108
    return [*options, "--remount-ro", "/dev"]


def can_be_passed(argv: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the kernel takes these arguments and variables."""
    return not any("\0" in text for text in (*argv, *environment, *environment.values())) and all(
        name and "=" not in name for name in environment
    )
