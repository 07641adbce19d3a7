"""Removes a container in every case: a process waits for a pipe to close, which also happens when we die."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from crawler.sandbox.boxes.process_tree import list_descendants
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.kernel.zombie_reaping import reap_named

PREFIX = "hallmark"
REMOVAL_SECONDS = 30.0
REMOVAL_TRIES = 3
# Waits for the end of its input, then executes the client that removes the container.
WAIT_SCRIPT = 'while read -r _; do :; done; exec "$@"'


class ContainerCleaner:
    """Guarantees the removal of a container. Created before the container."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name
        try:
            self._process = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", WAIT_SCRIPT, "cleaner", str(engine.binary), *removal_arguments(engine.flavour, name)],
                env=engine.client_environment,
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"no process can be started to remove containers ({type(error).__name__})") from error

    def release(self) -> None:
        """Start the removal of the container, without waiting for it."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    async def finish(self) -> None:
        """Remove the container; return when the engine no longer lists it, or after three attempts."""
        self.release()
        try:
            await asyncio.to_thread(self._process.wait, REMOVAL_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        for _ in range(REMOVAL_TRIES):
            with contextlib.suppress(SandboxError):
                if self._name not in await list_container_names(self._engine):
                    break
                await self._engine.run(*removal_arguments(self._engine.flavour, self._name), seconds=REMOVAL_SECONDS)
        if self._engine.flavour is EngineFlavour.PODMAN:
            reap_named("conmon", list_descendants(os.getpid())[1:])


class ContainerOwner(Struct, frozen=True):
    """The owner of containers: a token with a lock, which the kernel frees when the process ends. `number` counts."""

    token: str
    lock: Path
    handle: int
    number: Iterator[int]

    def next_name(self) -> str:
        """A container name that is unique on this machine."""
        return f"{PREFIX}-{self.token}-{next(self.number)}"


def claim_containers(cache_dir: Path) -> ContainerOwner:
    """Create an owner of containers for this cache."""
    token = secrets.token_hex(6)
    lock = _lock_path(cache_dir, token)
    lock.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return ContainerOwner(token, lock, handle, iter(range(1 << 62)))


async def remove_abandoned_containers(engine: Engine, cache_dir: Path) -> list[str]:
    """Remove the containers of dead owners of this cache; return their names."""
    dead = {token for token in _list_tokens(cache_dir) if _is_free(_lock_path(cache_dir, token))}
    left = [name for name in await list_container_names(engine) if name.split("-")[1] in dead]
    for name in left:
        await engine.run(*removal_arguments(engine.flavour, name), seconds=REMOVAL_SECONDS)
    for token in dead:
        _lock_path(cache_dir, token).unlink(missing_ok=True)
    return left


async def list_container_names(engine: Engine) -> list[str]:
    """The names of all containers of Hallmark, running or not; raises SandboxError."""
    output = await engine.run_checked(
        "ps", "--all", "--filter", f"name={PREFIX}-", "--format", "{{.Names}}", seconds=REMOVAL_SECONDS
    )
    return [name for name in output.split() if name.startswith(f"{PREFIX}-") and name.count("-") == 2]


def removal_arguments(flavour: EngineFlavour, name: str) -> list[str]:
    """The engine arguments that kill and remove a container, whether it exists or not."""
    found = ["rm", "--force", "--volumes"]
    return [*found, "--ignore", "--time", "0", name] if flavour is EngineFlavour.PODMAN else [*found, name]


def _list_tokens(cache_dir: Path) -> list[str]:
    return [path.name.removeprefix("engine-") for path in (cache_dir / "slots").glob("engine-*")]


def _lock_path(cache_dir: Path, token: str) -> Path:
    return cache_dir / "slots" / f"engine-{token}"


def _is_free(lock: Path) -> bool:
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
