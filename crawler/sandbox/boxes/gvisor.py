"""gVisor: runsc's own kernel handles the server's system calls, and runsc runs inside bubblewrap's namespaces.

runsc runs rootless as the user of the box, sees only the server's files of the host, and dies with the pid namespace
around it, so that it leaves neither state nor processes behind.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import BASE_ENVIRONMENT, NAMESPACES, WORK, Bind, Box, Descriptors, Scratch
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json

PROGRAM = "/runsc"
BUNDLE = "/bundle"
ROOT = "/server"
SOURCES = "/sources"
STATE = "/run/runsc"
# https://gvisor.dev/docs/user_guide/rootless/ and `runsc flags`.
FLAGS = ("--root", STATE, "--rootless", "--network=none", "--ignore-cgroups", "--overlay2=none")
INSIDE = 1000
STEP = 1 << 30  # with less, runsc does not start
# By name, since not every platform defines all of them.
RESOURCES = ("CPU", "DATA", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE", "SIGPENDING", "NICE", "RTPRIO", "NPROC")


class Gvisor(Struct, frozen=True):
    """runsc at `binary`, inside bubblewrap."""

    binary: Path
    name: str = "gvisor"

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box`; raises SandboxError if bubblewrap or runsc cannot create the box."""
        binds = (Bind(self.binary, PROGRAM), *(replace(bind, place=_source(n)) for n, bind in enumerate(box.binds)))
        carrier = replace(box, binds=binds, environment={}, folder="/", limits=runsc_limits(box.limits), watched=False)
        config = os.memfd_create("hallmark")
        try:
            os.write(config, json.dumps(bundle_specification(box, command)).encode("utf-8", "surrogatepass"))
            os.lseek(config, 0, os.SEEK_SET)
            return await bubblewrap.start_in_box(
                carrier,
                (PROGRAM, *FLAGS, "run", "--bundle", BUNDLE, "server"),
                identity,
                facts=facts,
                inherited=(config,),
                build_options=partial(runsc_options, config=config),
                runtime=self.name,
            )
        finally:
            os.close(config)


def runsc_limits(limits: Limits) -> Limits:
    """The limits of the runsc process for a server with `limits`.

    runsc keeps the server's memory in one memory file, so the file size limit is the memory limit. The file grows by
    STEP.
    """
    return replace(
        limits,
        cpu_seconds=2 * limits.cpu_seconds,
        processes=8 * limits.processes,  # its own threads, and one for each thread of the server
        data=4 * limits.data,
        file_size=-(-limits.memory // STEP) * STEP,
        open_files=4 * limits.open_files,
    )


def runsc_options(
    box: Box, places: Mapping[Path, str], _scratch: Scratch | None, descriptors: Descriptors, *, config: int
) -> list[str]:
    """The bubblewrap options for runsc: root in its own namespaces, with only the server's files."""
    found = [f"--unshare-{name}" for name in NAMESPACES]
    found += ["--uid", "0", "--gid", "0", "--cap-add", "ALL", "--hostname", "sandbox"]
    found += ["--die-with-parent", "--new-session", "--clearenv", "--ro-bind", places[box.root], ROOT]
    for bind in box.binds:
        found += ["--bind" if bind.writable else "--ro-bind", places[bind.source], bind.place]
    found += ["--proc", "/proc", "--dev", "/dev"]  # for runsc; the server sees those of runsc's kernel
    found += ["--size", str(1 << 20), "--tmpfs", "/run", "--size", "65536", "--tmpfs", "/tmp"]  # noqa: S108
    found += ["--ro-bind-data", str(config), f"{BUNDLE}/config.json", "--remount-ro", "/", "--chdir", "/"]
    return [*found, "--info-fd", str(descriptors.info), "--block-fd", str(descriptors.gate)]


def bundle_specification(box: Box, command: Sequence[str]) -> dict[str, Json]:
    """The bundle's config.json for `command` in `box` (OCI runtime specification 1.0.2)."""
    environment = {**BASE_ENVIRONMENT, **box.environment}
    limits = (*box.limits.resources(), (resource.RLIMIT_NPROC, box.limits.processes))
    names = {getattr(resource, f"RLIMIT_{name}"): f"RLIMIT_{name}" for name in RESOURCES}
    binds = [
        _mount(bind.place, "bind", _source(number), "rbind", "rw" if bind.writable else "ro")
        for number, bind in enumerate(box.binds)
    ]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": INSIDE, "gid": INSIDE},
            "args": list(command),
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": box.folder,
            "capabilities": {},
            "rlimits": [{"type": names[number], "soft": most, "hard": most} for number, most in limits],
            "noNewPrivileges": True,
        },
        "root": {"path": ROOT, "readonly": True},
        "hostname": "sandbox",
        "mounts": [
            _mount("/proc", "proc", "proc"),
            _memory("/tmp", box.limits.scratch),  # noqa: S108
            _memory(WORK, box.limits.scratch),
            _memory("/dev/shm", box.limits.shared_memory),  # noqa: S108
            *binds,
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }


def _source(number: int) -> str:
    return f"{SOURCES}/{number}"


def _mount(place: str, kind: str, source: str, *options: str) -> Json:
    return {"destination": place, "type": kind, "source": source, "options": list(options)}


def _memory(place: str, size: int) -> Json:
    return _mount(place, "tmpfs", "tmpfs", "nosuid", "nodev", "noexec", f"size={size}", "mode=1777")
