"""Podman or Docker as a runtime: a container is created, attached to, and removed in every case."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import platform
import signal
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from crawler.sandbox.boxes.box import BASE_ENVIRONMENT, Box
from crawler.sandbox.boxes.process_tree import ContainedProcess, InitProcess
from crawler.sandbox.engines import rootfs_image
from crawler.sandbox.engines.container import Container, creation_arguments
from crawler.sandbox.engines.container_cleanup import (
    ContainerCleaner,
    ContainerOwner,
    claim_containers,
    remove_abandoned_containers,
)
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.engines.pulled_images import PulledImages
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel.limits import Limits
from crawler.sandbox.kernel.seccomp_profile import build_profile
from crawler.sandbox.kernel.user_ids import FIRST_SLOT_UID, Identity
from crawler.sandbox.layers import trees
from evidence.canonical import Json

STARTING = 30.0  # seconds until the engine must report that the container has started
POLL = 0.02
# The file with which conmon, Podman's monitor, reports an out-of-memory kill. conmon 2.1.6 writes it into its working
# directory, where Podman does not read it; later versions write it where Podman does.
OUT_OF_MEMORY = "oom"
UNPRIVILEGED_UID = 1000  # inside a rootless engine, whose user namespace maps it to an unused id


class InContainer(ContainedProcess):
    """The attached client of a container as a process tree; stopping it also removes the container."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        init: InitProcess | None,
        limits: Limits,
        facts: Mapping[str, Json],
        *,
        runtime: str,
        cleaner: ContainerCleaner,
        starved: Callable[[], Awaitable[bool]],
    ) -> None:
        super().__init__(process, init, limits, facts, runtime=runtime)
        self._cleaner = cleaner
        self._killed_for_memory = starved
        self.after_stop(cleaner.finish)

    def kill(self, why: str | None = None) -> None:
        """Kill all processes now: through the first process if permitted, and in any case through the engine."""
        super().kill(why)
        self._cleaner.release()

    async def _has_starved(self) -> bool:
        return await self._killed_for_memory()


class Containers(Struct, frozen=True):
    """Starts containers of one engine; created by `open_container_runtime`.

    `profile`: the seccomp profile. `pulled`: the images that the engine stores for us.
    """

    engine: Engine
    owner: ContainerOwner
    profile: Path
    pulled: PulledImages

    @property
    def name(self) -> str:
        """`podman` or `docker`."""
        return self.engine.flavour.value

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box`; raises SandboxError if the engine cannot do so."""
        wanted = Container(
            name=self.owner.next_name(),
            label=f"hallmark.owner={self.owner.token}",
            command=tuple(command),
            environment={**BASE_ENVIRONMENT, **box.environment},
            binds=box.binds,
            folder=box.folder,
            user=self.user(identity),
            alone=identity.uid is not None,
            blind=True,
            profile=self.profile,
            names=box.root / "etc/resolv.conf",
            limits=box.limits,
        )
        if self.engine.flavour is EngineFlavour.PODMAN:
            return await self.start_container(
                replace(wanted, root=box.root.resolve()), facts
            )  # resolved, since runc follows no link in this path
        image = await rootfs_image.import_rootfs_image(self.pulled, box.root)
        return await self.start_container(replace(wanted, image=image), facts)

    def user(self, identity: Identity) -> str:
        """The user of a server inside, as USER:GROUP: never root, and unique if the engine runs as root."""
        if self.engine.flavour is EngineFlavour.PODMAN and identity.uid is None:
            return f"{UNPRIVILEGED_UID}:{UNPRIVILEGED_UID}"
        uid = identity.uid or FIRST_SLOT_UID
        return f"{uid}:{uid}"

    async def start_container(self, wanted: Container, facts: Mapping[str, Json] | None) -> ContainedProcess:
        """Create and start a container; if that fails, remove it and raise SandboxError."""
        cleaner = ContainerCleaner(self.engine, wanted.name)
        async with contextlib.AsyncExitStack() as undo:
            notes = await asyncio.to_thread(self._notes)
            undo.push_async_callback(asyncio.to_thread, trees.remove_tree, notes)
            undo.push_async_callback(cleaner.finish)
            await self.engine.run_checked(*creation_arguments(self.engine.flavour, wanted))
            process = self._client(wanted.name, notes)
            undo.callback(_abandon, process)
            init = await self._started(wanted.name, process)
            undo.pop_all()
        starved = partial(self._starved, wanted.name, notes)
        made = InContainer(
            process, init, wanted.limits, facts or {}, runtime=self.name, cleaner=cleaner, starved=starved
        )
        made.after_stop(partial(asyncio.to_thread, trees.remove_tree, notes))
        return made

    def _notes(self) -> Path:
        """An empty working directory for the client, where conmon writes OUT_OF_MEMORY."""
        folder = self.pulled.cache_dir / "work"
        folder.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="container-", dir=folder))

    def _client(self, name: str, folder: Path) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603
                [self.engine.binary, "start", "--attach", "--interactive", name],
                env=self.engine.client_environment,
                cwd=folder,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{self.name} cannot be started ({type(error).__name__})") from error

    async def _started(self, name: str, process: subprocess.Popen[bytes]) -> InitProcess | None:
        """Wait for the start; the container's first process, or None if it has ended or is not accessible."""
        try:
            async with asyncio.timeout(STARTING):
                while not (found := await self._state(name)).begun:
                    if process.poll() is not None and not (await self._state(name)).begun:
                        raise SandboxError(f"{self.name} could not start the container: {_last_error(process)}")
                    await asyncio.sleep(POLL)
        except TimeoutError as error:
            raise SandboxError(f"{self.name} did not start the container in {STARTING:g} seconds") from error
        return _init(found)

    async def _starved(self, name: str, notes: Path) -> bool:
        """Whether the kernel killed a process of an ended container because of the memory limit."""
        if (notes / OUT_OF_MEMORY).exists():
            return True
        try:
            return (await self._state(name)).starved
        except SandboxError:  # it does not exist any more
            return False

    async def _state(self, name: str) -> ContainerState:
        output = await self.engine.run_checked("container", "inspect", name)
        try:
            table = json.loads(output)[0]
            state = table["State"]
            begun, starved = not str(state["StartedAt"]).startswith("0001-"), state.get("OOMKilled") is True
            return ContainerState(begun=begun, pid=int(state["Pid"]), container=str(table["Id"]), starved=starved)
        except (ValueError, TypeError, LookupError) as error:
            raise SandboxError(f"{self.name} does not say what became of a container") from error


class ContainerState(Struct, frozen=True):
    """The engine's report on a container: whether it was ever started, its first process (0: none), its id."""

    begun: bool
    pid: int
    container: str
    starved: bool


async def open_container_runtime(engine: Engine, cache_dir: Path) -> Containers:
    """The engine as a runtime, after the removal of abandoned containers; raises SandboxError."""
    await remove_abandoned_containers(engine, cache_dir)
    profile = await asyncio.to_thread(_write_profile, cache_dir / "tools")
    return Containers(engine, claim_containers(cache_dir), profile, PulledImages(engine, cache_dir))


def _write_profile(folder: Path) -> Path:
    text = json.dumps(build_profile(platform.machine()), sort_keys=True)
    target = folder / f"seccomp-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    new = target.with_suffix(f".{os.getpid()}")
    new.write_text(text, "utf-8")
    new.replace(target)
    return target


def _init(found: ContainerState) -> InitProcess | None:
    """A pidfd of the first process, if /proc confirms that it belongs to this container and we may signal it.

    The pids of an engine in a virtual machine differ from ours. An ordinary user may not signal the processes of an
    engine that runs as root; only the engine can end those.
    """
    if found.pid <= 1 or len(found.container) < 32:
        return None
    with contextlib.suppress(OSError), contextlib.ExitStack() as undo:
        handle = os.pidfd_open(found.pid)
        undo.callback(os.close, handle)
        signal.pidfd_send_signal(handle, 0)
        known = [Path(f"/proc/{found.pid}/{part}").read_text("utf-8", "replace") for part in ("cgroup", "mountinfo")]
        if found.container in "".join(known):
            undo.pop_all()
            return InitProcess(found.pid, handle)
    return None


def _abandon(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _last_error(process: subprocess.Popen[bytes]) -> str:
    output = process.stderr.read(65536).decode("utf-8", "replace").strip() if process.stderr else ""
    return output.splitlines()[-1][-300:] if output else f"exit code {process.returncode}"
