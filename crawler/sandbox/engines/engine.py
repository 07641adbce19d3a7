"""A container engine of this machine, driven by its command line: Podman or Docker.

Options are those that both document (https://docs.docker.com/reference/cli/docker/container/create/ and
https://docs.podman.io/en/latest/markdown/podman-create.1.html) but for what a `Flavour` says.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from crawler.container_engine_variables import ENGINE_VARIABLES
from crawler.sandbox.boxes.process_tree import list_descendants
from crawler.sandbox.errors import SandboxError

LONGEST_ANSWER = 4 << 20
COMMAND_SECONDS = 60.0
POLL = 0.2
# What a client needs besides; nothing of it reaches a container.
FORWARDED_VARIABLES = ("HOME", "XDG_CONFIG_HOME", *sorted(ENGINE_VARIABLES))


class EngineFlavour(StrEnum):
    """Whose command line it is."""

    PODMAN = "podman"
    DOCKER = "docker"


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What one command of the engine said; `cut` when it was killed for what it wrote to the disk."""

    code: int
    out: str
    err: str
    cut: bool = False

    @property
    def last_words(self) -> str:
        """The last line it complained with."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1][:200] if lines else f"exit code {self.code}"


@dataclass(frozen=True, slots=True)
class Engine:
    """A client program and the environment it gets."""

    flavour: EngineFlavour
    binary: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def client_environment(self) -> dict[str, str]:
        """The environment of every client that is started."""
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin", "LANG": "C.UTF-8", **self.environment}

    async def ask(
        self,
        *arguments: str,
        seconds: float = COMMAND_SECONDS,
        most_written: int | None = None,
        store: Path | None = None,
    ) -> EngineAnswer:
        """Run one command to its end; raises SandboxError when it takes longer or says too much.

        With `most_written` it is killed when it wrote more bytes to the disk, or when the file system of `store`, where
        a daemon writes for it, got fuller by more: whoever else did that.
        """
        process = await self._spawn(arguments)
        watch = asyncio.create_task(_cut(process, most_written, store))
        try:
            async with asyncio.timeout(seconds):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise SandboxError(f"{self.flavour} {arguments[0]} took more than {seconds:g} seconds") from error
        finally:
            watch.cancel()
            if process.returncode is None:
                _kill(process)
                await process.wait()
        if len(out) > LONGEST_ANSWER:
            raise SandboxError(f"{self.flavour} {arguments[0]} said more than {LONGEST_ANSWER} bytes")
        cut = watch.done() and not watch.cancelled() and most_written is not None
        return EngineAnswer(
            process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), cut
        )

    async def demand(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> str:
        """What a command says that has to succeed; raises SandboxError with its last words."""
        answer = await self.ask(*arguments, seconds=seconds)
        if answer.code:
            raise SandboxError(f"{self.flavour} {arguments[0]} failed: {answer.last_words}")
        return answer.out

    async def _spawn(self, arguments: tuple[str, ...]) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                self.binary,
                *arguments,
                env=self.client_environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise SandboxError(f"{self.flavour} cannot be started ({type(error).__name__})") from error


async def _cut(process: asyncio.subprocess.Process, most: int | None, store: Path | None) -> None:
    """Kill a client and all it started once more than `most` bytes were written; returns when that was done."""
    written, before = dict[int, int](), _taken(store)
    while most is None or max(sum(written.values()), _taken(store) - before) <= most:
        await asyncio.sleep(POLL)
        for pid in list_descendants(process.pid) if most is not None else ():
            written[pid] = max(written.get(pid, 0), _written(pid))
    _kill(process)


def _taken(store: Path | None) -> int:
    """Bytes in use on a file system; 0 where it cannot be seen, as in a virtual machine."""
    try:
        found = os.statvfs(store) if store is not None else None
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize if found else 0


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _written(pid: int) -> int:
    """Bytes that a process had written to storage; 0 when it is gone or not ours to ask."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text("ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes:"))
    except (OSError, ValueError, StopIteration):
        return 0
