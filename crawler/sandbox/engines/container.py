"""The description of one container, and the engine options that create and restrict it."""

from __future__ import annotations

import csv
import io
import resource
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from crawler.sandbox.boxes.box import WORK, Bind
from crawler.sandbox.engines.engine import EngineFlavour
from crawler.sandbox.kernel.limits import Limits

# By name, since not every platform defines all of them.
ULIMITS = ("CPU", "DATA", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE", "SIGPENDING", "NPROC")
SCRATCH = "/tmp"  # noqa: S108
SHARED = 64  # containers that may run as the same user
LEAVING = 30  # seconds by which the engine's own timeout is longer than ours
# Terminals and queues are limited per machine, and a shared mapping of /dev/zero counts for no process.
EMPTY_FOLDERS = ("/dev/pts", "/dev/mqueue")
HIDDEN_DEVICES = ("/dev/full", "/dev/tty", "/dev/zero")
SYS = "/sys"
# Init programs without shared libraries, which run in any image; Docker has its own.
INIT_PROGRAMS = ("catatonit", "tini-static", "docker-init")
INIT_FOLDERS = "/usr/libexec/podman:/usr/libexec/catatonit:/usr/bin:/usr/local/bin"
INIT_INSIDE = "/dev/init"


class Container(Struct, frozen=True, kw_only=True):
    """Everything that a command can see and use.

    The file system is an `image` of the engine or our folder `root` (Podman only). `user`: None if the image names an
    ordinary one. `alone`: nothing else runs as that user. `folder`: None for that of the image. `profile`: the allowed
    system calls. `names`: the resolv.conf inside, instead of the host's. `blind`: /sys is empty. Images keep it, since
    the virtual machines of Java and .NET read the limits of their control group there.
    """

    name: str
    label: str
    image: str = ""
    root: Path | None = None
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    binds: tuple[Bind, ...] = ()
    memory_places: tuple[str, ...] = ()
    folder: str | None = None
    user: str | None = None
    alone: bool = False
    blind: bool = False
    profile: Path
    names: Path
    limits: Limits


def creation_arguments(flavour: EngineFlavour, wanted: Container) -> list[str]:
    """The engine arguments that create a container without starting it."""
    found = ["create", "--name", wanted.name, "--label", wanted.label, "--interactive", "--hostname", "sandbox"]
    found += [*_containment(flavour), "--security-opt", f"seccomp={wanted.profile}"]
    found += _limits(flavour, wanted.limits, alone=wanted.alone)
    for place in (SCRATCH, WORK, *wanted.memory_places):
        found += _memory(flavour, place, wanted.limits.scratch, wanted.limits.scratch_inodes)
    for place in (*EMPTY_FOLDERS, *((SYS,) if wanted.blind else ())):
        found += ["--tmpfs", f"{place}:ro,nosuid,nodev,noexec,mode=555,size=4096"]
    hidden = [Bind(Path("/dev/null"), place) for place in HIDDEN_DEVICES]
    # Podman would add the user, which differs between slots, to a copy of this file.
    users = [Bind(wanted.root / "etc/passwd", "/etc/passwd")] if wanted.root else []
    for bind in (Bind(wanted.names, "/etc/resolv.conf"), *users, *hidden, *wanted.binds):
        found += ["--mount", _bind(bind)]
    for name, value in wanted.environment.items():
        found += ["--env", f"{name}={value}"]
    found += ["--workdir", wanted.folder] if wanted.folder else []
    found += ["--user", wanted.user] if wanted.user else []
    options, before = _init_options(flavour, wanted)
    found += options
    found += ["--rootfs", str(wanted.root)] if wanted.root else [wanted.image]
    return [*found, *before, *wanted.command]


def _containment(flavour: EngineFlavour) -> list[str]:
    found = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    found += ["--security-opt", "label=disable", "--ipc", "private", "--cgroupns", "private", "--no-healthcheck"]
    # A log driver would copy a flood of output to the host's disk.
    found += ["--log-driver", "none", "--pull", "never", "--restart", "no"]
    if flavour is EngineFlavour.DOCKER:
        return found
    found += ["--no-hosts", "--http-proxy=false", "--read-only-tmpfs=false"]
    return [*found, "--image-volume", "ignore", "--systemd", "false"]


def _init_options(flavour: EngineFlavour, wanted: Container) -> tuple[list[str], tuple[str, ...]]:
    """Options and command prefix that make an init program process 1, since process 1 would survive its own signals."""
    if flavour is EngineFlavour.DOCKER:
        return ["--init"], ()
    binary = next(filter(None, (shutil.which(name, path=INIT_FOLDERS) for name in INIT_PROGRAMS)), None)
    if binary is None:
        return [], ()
    if wanted.root is None:
        return ["--init", "--init-path", binary], ()
    # Podman's own option would write into that folder, which all containers share.
    return ["--mount", _bind(Bind(Path(binary), INIT_INSIDE))], (INIT_INSIDE, "--")


def _limits(flavour: EngineFlavour, limits: Limits, *, alone: bool) -> list[str]:
    found = ["--pids-limit", str(limits.processes), "--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    found += ["--cpus", f"{limits.cpus:g}", "--shm-size", str(limits.shared_memory)]
    # The kernel counts a user's processes in all containers together; --pids-limit is the cap of this one.
    processes = limits.processes if alone else SHARED * limits.processes
    names = {getattr(resource, f"RLIMIT_{name}"): name.lower() for name in ULIMITS}
    for number, most in (*limits.resources(), (resource.RLIMIT_NPROC, processes)):
        if number in names:
            found += ["--ulimit", f"{names[number]}={most}:{most}"]
    # Podman's timeout also ends the container if Hallmark has died.
    return [*found, "--timeout", str(round(limits.seconds) + LEAVING)] if flavour is EngineFlavour.PODMAN else found


def _memory(flavour: EngineFlavour, place: str, size: int, inodes: int) -> list[str]:
    # Podman refuses nr_inodes; there the files count as memory of the control group.
    most = f",nr_inodes={inodes}" if flavour is EngineFlavour.DOCKER else ",notmpcopyup"
    return ["--tmpfs", f"{place}:rw,nosuid,nodev,noexec,mode=1777,size={size}{most}"]


def _bind(bind: Bind) -> str:
    text = io.StringIO()
    fields: Sequence[str] = ("type=bind", f"source={bind.source}", f"target={bind.place}")
    csv.writer(text, lineterminator="").writerow([*fields, *(() if bind.writable else ("readonly",))])
    return text.getvalue()
