"""One container as data, and the engine's options for it: everything that it may not do is said here."""

from __future__ import annotations

import csv
import io
import resource
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawler.sandbox.boxes.box import WORK, Bind
from crawler.sandbox.engines.engine import EngineFlavour
from crawler.sandbox.kernel.limits import Limits

# By name: not every platform that imports this has all of them.
ULIMITS = ("CPU", "DATA", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE", "SIGPENDING", "NPROC")
SCRATCH = "/tmp"  # noqa: S108
SHARED = 64  # containers that may run as one user
LEAVING = 30  # seconds that the engine itself waits longer than we do
# Terminals and queues are shared out to the whole machine, and memory mapped from /dev/zero belongs to no process.
NOTHING_IN = ("/dev/pts", "/dev/mqueue")
NOTHING_BEHIND = ("/dev/full", "/dev/tty", "/dev/zero")
MACHINE = "/sys"
# First processes that link to no library, so that they run in any image; Docker brings one of its own.
FIRST = ("catatonit", "tini-static", "docker-init")
FIRST_PLACES = "/usr/libexec/podman:/usr/libexec/catatonit:/usr/bin:/usr/local/bin"
FIRST_INSIDE = "/dev/init"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Everything that decides what a command sees and may use.

    `image` is an identifier of the engine's, or `root` a folder of ours to be the file system (Podman only). `user` is
    None where the image names an ordinary one itself, `alone` if nothing else runs as that user, `folder` None for the
    image's own. `profile` lists the allowed system calls; `names` is the resolv.conf inside, where an engine would put
    the host's. `blind` to the machine's devices in /sys, and with them to its own group's limits, which the virtual
    machines of Java and .NET in images go by.
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
    """The arguments that create a container: nothing in it runs yet."""
    found = ["create", "--name", wanted.name, "--label", wanted.label, "--interactive", "--hostname", "sandbox"]
    found += [*_containment(flavour), "--security-opt", f"seccomp={wanted.profile}"]
    found += _limits(flavour, wanted.limits, alone=wanted.alone)
    for place in (SCRATCH, WORK, *wanted.memory_places):
        found += _memory(flavour, place, wanted.limits.scratch, wanted.limits.scratch_inodes)
    for place in (*NOTHING_IN, *((MACHINE,) if wanted.blind else ())):
        found += ["--tmpfs", f"{place}:ro,nosuid,nodev,noexec,mode=555,size=4096"]
    hidden = [Bind(Path("/dev/null"), place) for place in NOTHING_BEHIND]
    # Podman writes whoever runs inside into a copy of it, and that differs between slots.
    users = [Bind(wanted.root / "etc/passwd", "/etc/passwd")] if wanted.root else []
    for bind in (Bind(wanted.names, "/etc/resolv.conf"), *users, *hidden, *wanted.binds):
        found += ["--mount", _bind(bind)]
    for name, value in wanted.environment.items():
        found += ["--env", f"{name}={value}"]
    found += ["--workdir", wanted.folder] if wanted.folder else []
    found += ["--user", wanted.user] if wanted.user else []
    options, before = _first(flavour, wanted)
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


def _first(flavour: EngineFlavour, wanted: Container) -> tuple[list[str], tuple[str, ...]]:
    """Options and words before the command, by which it is not process 1: that survives its own crash and signals."""
    if flavour is EngineFlavour.DOCKER:
        return ["--init"], ()
    binary = next(filter(None, (shutil.which(name, path=FIRST_PLACES) for name in FIRST)), None)
    if binary is None:
        return [], ()
    if wanted.root is None:
        return ["--init", "--init-path", binary], ()
    # By itself Podman would put a file into that folder, which all containers share.
    return ["--mount", _bind(Bind(Path(binary), FIRST_INSIDE))], (FIRST_INSIDE, "--")


def _limits(flavour: EngineFlavour, limits: Limits, *, alone: bool) -> list[str]:
    found = ["--pids-limit", str(limits.processes), "--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    found += ["--cpus", f"{limits.cpus:g}", "--shm-size", str(limits.shared_memory)]
    # The kernel counts a user's processes in all containers together; --pids-limit is the cap of this one.
    processes = limits.processes if alone else SHARED * limits.processes
    names = {getattr(resource, f"RLIMIT_{name}"): name.lower() for name in ULIMITS}
    for number, most in (*limits.resources(), (resource.RLIMIT_NPROC, processes)):
        if number in names:
            found += ["--ulimit", f"{names[number]}={most}:{most}"]
    # Podman ends a container by itself, which holds where we are no longer there to do it.
    return [*found, "--timeout", str(round(limits.seconds) + LEAVING)] if flavour is EngineFlavour.PODMAN else found


def _memory(flavour: EngineFlavour, place: str, size: int, inodes: int) -> list[str]:
    # Podman refuses nr_inodes: there, the files of a flood count as memory of the control group.
    most = f",nr_inodes={inodes}" if flavour is EngineFlavour.DOCKER else ",notmpcopyup"
    return ["--tmpfs", f"{place}:rw,nosuid,nodev,noexec,mode=1777,size={size}{most}"]


def _bind(bind: Bind) -> str:
    text = io.StringIO()
    fields: Sequence[str] = ("type=bind", f"source={bind.source}", f"target={bind.place}")
    csv.writer(text, lineterminator="").writerow([*fields, *(() if bind.writable else ("readonly",))])
    return text.getvalue()
