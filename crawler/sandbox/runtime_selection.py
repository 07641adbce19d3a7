"""Checks which runtimes are available on this machine, and chooses and opens one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from crawler.sandbox.availability import PATHS, Availability, check_bubblewrap
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.boxes.gvisor import Gvisor
from crawler.sandbox.engines.container_runtime import Containers, open_container_runtime
from crawler.sandbox.engines.engine import FORWARDED_VARIABLES, Engine, EngineFlavour
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel.limits import RUN
from crawler.sandbox.kernel.user_ids import claim_slot
from crawler.sandbox.kernel.zombie_reaping import become_subreaper_if_needed
from crawler.sandbox.runtime import Bubblewrap, Runtime

AUTO: Final = "auto"
# In the order of preference of `auto`, which never takes gVisor: starts take three times as long.
RUNTIMES: Final = ("bubblewrap", "gvisor", "podman", "docker")
PACKAGES: Final = ("bubblewrap", "podman", "docker")
IMAGES: Final = ("podman", "docker")
TRIAL: Final = ("/usr/bin/python3", "-S", "-c", "print('contained')")
DELEGATE: Final = "have systemd delegate the controllers memory and pids to its user, or run as root"
MOUNT_CONTROLLERS: Final = "mount the control groups of memory and pids; a container gets them from its engine"
_TIMEOUT: Final = 20.0


def check_runtimes(environ: Mapping[str, str]) -> dict[str, Availability]:
    """The availability of every runtime. `environ` may contain the addresses of engines."""
    return {name: check_runtime(name, environ) for name in RUNTIMES}


def check_runtime(name: str, environ: Mapping[str, str]) -> Availability:
    match name:
        case "bubblewrap":
            return check_bubblewrap()
        case "gvisor":
            return _gvisor()
        case "podman":
            return _podman(environ)
        case _:
            return _docker(environ)


def choose_runtime(wanted: str, check: Callable[[str], Availability]) -> str | Availability:
    """Choose the runtime of packages and commands: `wanted` or the first available one; else why there is none."""
    first: Availability | None = None
    for name in PACKAGES if wanted == AUTO else (wanted,):
        state = check(name)
        if state.ok:
            return name
        first = first or state
    why, fix = (first.why, first.fix) if first else ("there is no such runtime", "")
    return Availability(False, why if wanted == AUTO else f"{wanted} was chosen, but {why}", fix)


def choose_image_engine(wanted: str, check: Callable[[str], Availability]) -> str | Availability:
    """Choose the engine of images, or why there is none. A runtime that is `wanted` by name is never replaced."""
    if wanted not in {AUTO, *IMAGES}:
        return Availability(False, f"images run in Podman or Docker, and {wanted} was chosen", "choose auto")
    for name in IMAGES if wanted == AUTO else (wanted,):
        if (state := check(name)).ok:
            return name
    if wanted == AUTO:
        return Availability(False, "images run in Podman or Docker, and neither answers", "apt-get install podman")
    return state


def describe_containment() -> str:
    """One line about the parts of the containment that depend on our user id."""
    if os.geteuid() == 0:
        return "as root: each server runs as a user id of its own, with a kernel's cap on its files in memory"
    return "as an ordinary user: servers run as you in a namespace of their own, and their files in memory are counted"


def prepare_for_orphans(name: str) -> None:
    """Have the orphans of the runtime `name` reaped; an engine has a process of its own for that."""
    if name not in IMAGES:
        become_subreaper_if_needed()


async def open_runtime(name: str, cache_dir: Path, root: Path, environ: Mapping[str, str]) -> Runtime:
    """Open the runtime `name`. gVisor is tested, since its failures resemble a server's; raises SandboxError."""
    if name in IMAGES:
        return await open_engine_runtime(name, cache_dir, environ)
    if name == "bubblewrap":
        return Bubblewrap()
    runtime = Gvisor(_program("runsc"))
    await verify_runtime(runtime, cache_dir, root)
    return runtime


async def open_engine_runtime(name: str, cache_dir: Path, environ: Mapping[str, str]) -> Containers:
    """Open an engine as a runtime; raises SandboxError."""
    return await open_container_runtime(find_engine(EngineFlavour(name), environ), cache_dir)


async def verify_runtime(runtime: Runtime, cache_dir: Path, root: Path, trial: Sequence[str] = TRIAL) -> None:
    """Test a runtime with a command that prints one word; raises SandboxError with its error otherwise."""
    async with claim_slot(cache_dir) as identity:
        started = await runtime.start(Box(root=root, binds=(), limits=RUN), trial, identity)
        output = b""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_TIMEOUT):
                    while len(output) < len(b"contained\n") and (data := await started.read(64)):
                        output += data
        finally:
            end = await started.stop()
    if output != b"contained\n":
        lines = end.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise SandboxError(f"{runtime.name} cannot start anything here ({lines[0][:200]})")


def _gvisor() -> Availability:
    if shutil.which("runsc", path=PATHS) is None:
        return Availability(False, "runsc is not installed", "install it: apt-get install runsc, or from gvisor.dev")
    if not (bubblewrap := check_bubblewrap()).ok:
        return Availability(False, f"runsc runs inside bubblewrap, and {bubblewrap.why}", bubblewrap.fix)
    version = _output_of([str(_program("runsc")), "--version"], {})
    if version is None or not version.startswith("runsc"):
        return Availability(False, "runsc does not say its version", "install it again")
    detail = version.splitlines()[0]
    try:
        with tempfile.TemporaryDirectory() as folder:  # runsc may not work with this kernel
            trial = verify_runtime(Gvisor(_program("runsc")), Path(folder), Path("/"), ("/bin/echo", "contained"))
            asyncio.run(trial)
    except SandboxError as error:
        return Availability(False, f"{error}; {detail}", "choose another runtime, or install another runsc")
    return Availability(True, detail=detail)


def _podman(environ: Mapping[str, str]) -> Availability:
    if shutil.which("podman", path=PATHS) is None:
        return Availability(False, "Podman is not installed", "install it: apt-get install podman")
    if environ.get("CONTAINER_HOST"):
        return Availability(False, "CONTAINER_HOST names a Podman elsewhere", "unset it: containers need local files")
    engine = find_engine(EngineFlavour.PODMAN, environ)
    info = _output_of([str(engine.binary), "info", "--format", "json"], engine.client_environment)
    try:
        table = json.loads(info or "")
        host, version = table["host"], table["version"]["Version"]
        manner = "rootless" if host["security"]["rootless"] else "as root"
        if not set(host["cgroupControllers"]) >= {"memory", "pids"}:  # it would start without these limits
            fix = DELEGATE if manner == "rootless" else MOUNT_CONTROLLERS
            return Availability(False, f"Podman {manner} may limit neither memory nor processes here", fix)
        return Availability(True, detail=f"{version}, {manner}, {host['ociRuntime']['name']}")
    except (ValueError, LookupError, TypeError):
        return Availability(False, "`podman info` fails", "run it: it says what is missing")


def _docker(environ: Mapping[str, str]) -> Availability:
    if shutil.which("docker", path=PATHS) is None:
        return Availability(False, "Docker is not installed", "install it: apt-get install docker.io")
    if not environ.get("DOCKER_HOST", "unix://").startswith("unix://"):
        return Availability(False, "DOCKER_HOST names a machine elsewhere", "unset it: containers need local files")
    engine = find_engine(EngineFlavour.DOCKER, environ)
    client = _output_of([str(engine.binary), "--version"], engine.client_environment)
    if client is None or not client.startswith("Docker version"):
        return Availability(False, "`docker` is not Docker's client", "choose podman, if it is Podman's")
    server = _output_of([str(engine.binary), "version", "--format", "{{.Server.Version}}"], engine.client_environment)
    if not server:
        return Availability(False, "Docker's engine does not answer", "start it, and join the group `docker`")
    return Availability(True, detail=server.strip())


def find_engine(flavour: EngineFlavour, environ: Mapping[str, str]) -> Engine:
    """The client of an engine; raises SandboxError if it is not installed."""
    return Engine(flavour, _program(flavour), {name: environ[name] for name in FORWARDED_VARIABLES if name in environ})


def _program(name: str) -> Path:
    found = shutil.which(name, path=PATHS)
    if found is None:
        raise SandboxError(f"{name} is missing")
    return Path(found)


def _output_of(command: list[str], environment: Mapping[str, str]) -> str | None:
    """The output of a command if it succeeds, else None."""
    try:
        done = subprocess.run(  # noqa: S603
            command, env=dict(environment), cwd="/", capture_output=True, check=False, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
