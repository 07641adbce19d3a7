"""Podman or Docker as a runtime: a container is created, entered by its client, and removed whatever happens."""

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
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

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

STARTING = 30.0  # seconds from the order to start until the engine says that it did
POLL = 0.02
# The note of conmon, which watches Podman's containers, that the kernel killed for want of memory. 2.1.6 leaves it
# in the folder that it was started in, where Podman does not look; later ones leave it where Podman does.
OUT_OF_MEMORY = "oom"
UNPRIVILEGED_UID = 1000  # the user inside a rootless engine, whose own user namespace makes it a stranger outside


class InContainer(ContainedProcess):
    """A container's client as a process tree: ending the client also removes the container."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        init: InitProcess | None,
        limits: Limits,
        facts: Mapping[str, Json],
        *,
        runtime: str,
        keeper: ContainerCleaner,
        starved: Callable[[], Awaitable[bool]],
    ) -> None:
        super().__init__(process, init, limits, facts, runtime=runtime)
        self._keeper = keeper
        self._killed_for_memory = starved
        self.after_stop(keeper.finish)

    def kill(self, why: str | None = None) -> None:
        """Kill the whole tree now: by its first process where we may, and by the engine in any case."""
        super().kill(why)
        self._keeper.release()

    async def _has_starved(self) -> bool:
        return await self._killed_for_memory()


@dataclass(frozen=True, slots=True)
class Containers:
    """Containers of one engine. Make one with `containers_of`; `profile` lists the allowed system calls.

    `pulled` knows the images that the engine holds for us.
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
        """Start `command` in `box`; raises SandboxError when the engine cannot set it up."""
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
            return await self.enter(replace(wanted, root=box.root.resolve()), facts)  # runc follows no link on the way
        return await self.enter(
            replace(wanted, image=await rootfs_image.import_rootfs_image(self.pulled, box.root)), facts
        )

    def user(self, identity: Identity) -> str:
        """Who a server is inside, as USER:GROUP; never root, and alone with that id where the engine is root."""
        if self.engine.flavour is EngineFlavour.PODMAN and identity.uid is None:
            return f"{UNPRIVILEGED_UID}:{UNPRIVILEGED_UID}"
        uid = identity.uid or FIRST_SLOT_UID
        return f"{uid}:{uid}"

    async def enter(self, wanted: Container, facts: Mapping[str, Json] | None) -> ContainedProcess:
        """Create and start a container; raises SandboxError, and leaves none behind, when it cannot be started."""
        keeper = ContainerCleaner(self.engine, wanted.name)
        async with contextlib.AsyncExitStack() as undo:
            notes = await asyncio.to_thread(self._notes)
            undo.push_async_callback(asyncio.to_thread, trees.remove_tree, notes)
            undo.push_async_callback(keeper.finish)
            await self.engine.demand(*creation_arguments(self.engine.flavour, wanted))
            process = self._client(wanted.name, notes)
            undo.callback(_abandon, process)
            init = await self._started(wanted.name, process)
            undo.pop_all()
        starved = partial(self._starved, wanted.name, notes)
        made = InContainer(process, init, wanted.limits, facts or {}, runtime=self.name, keeper=keeper, starved=starved)
        made.after_stop(partial(asyncio.to_thread, trees.remove_tree, notes))
        return made

    def _notes(self) -> Path:
        """An empty folder for the client, in which what watches a container for Podman leaves its notes."""
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
        """The container's first process once it runs, None when it ended already or is not ours to see."""
        try:
            async with asyncio.timeout(STARTING):
                while not (found := await self._state(name)).begun:
                    if process.poll() is not None and not (await self._state(name)).begun:
                        raise SandboxError(f"{self.name} could not start the container: {_complaint(process)}")
                    await asyncio.sleep(POLL)
        except TimeoutError as error:
            raise SandboxError(f"{self.name} did not start the container in {STARTING:g} seconds") from error
        return _init(found)

    async def _starved(self, name: str, notes: Path) -> bool:
        """Whether the kernel killed something in an ended container, all of which together had too much memory."""
        if (notes / OUT_OF_MEMORY).exists():
            return True
        try:
            return (await self._state(name)).starved
        except SandboxError:  # it is gone
            return False

    async def _state(self, name: str) -> ContainerState:
        said = await self.engine.demand("container", "inspect", name)
        try:
            table = json.loads(said)[0]
            state = table["State"]
            begun, starved = not str(state["StartedAt"]).startswith("0001-"), state.get("OOMKilled") is True
            return ContainerState(begun=begun, pid=int(state["Pid"]), container=str(table["Id"]), starved=starved)
        except (ValueError, TypeError, LookupError) as error:
            raise SandboxError(f"{self.name} does not say what became of a container") from error


@dataclass(frozen=True, slots=True)
class ContainerState:
    """What the engine says of a container: whether it was ever started, and its first process (0: none)."""

    begun: bool
    pid: int
    container: str
    starved: bool


async def open_container_runtime(engine: Engine, cache_dir: Path) -> Containers:
    """The engine as a runtime, without what dead processes left in it; raises SandboxError."""
    await remove_abandoned_containers(engine, cache_dir)
    calls = await asyncio.to_thread(_written, cache_dir / "tools")
    return Containers(engine, claim_containers(cache_dir), calls, PulledImages(engine, cache_dir))


def _written(folder: Path) -> Path:
    text = json.dumps(build_profile(platform.machine()), sort_keys=True)
    place = folder / f"seccomp-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    new = place.with_suffix(f".{os.getpid()}")
    new.write_text(text, "utf-8")
    new.replace(place)
    return place


def _init(found: ContainerState) -> InitProcess | None:
    """A handle on the first process, when /proc agrees that it belongs to this very container and we may end it.

    The engine may number processes differently, as one in a virtual machine does; and one that runs as root ends its
    containers for an ordinary user, who may not, and would wait in vain for the end of what the user tried to kill.
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


def _complaint(process: subprocess.Popen[bytes]) -> str:
    said = process.stderr.read(65536).decode("utf-8", "replace").strip() if process.stderr else ""
    return said.splitlines()[-1][-300:] if said else f"exit code {process.returncode}"
