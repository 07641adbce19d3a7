"""The command-line client of a container engine of this machine: Podman or Docker.

Options are those that both document (https://docs.docker.com/reference/cli/docker/container/create/ and
https://docs.podman.io/en/latest/markdown/podman-create.1.html) except where the code checks the `EngineFlavour`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from crawler.container_engine_variables import ENGINE_VARIABLES
from crawler.sandbox.boxes.process_tree import list_descendants
from crawler.sandbox.errors import SandboxError

LONGEST_ANSWER = 4 << 20
COMMAND_SECONDS = 60.0
POLL = 0.2
# Variables that the client needs; none of them is passed to a container.
FORWARDED_VARIABLES = ("HOME", "XDG_CONFIG_HOME", *sorted(ENGINE_VARIABLES))


class EngineFlavour(StrEnum):
    """The kind of engine."""

    PODMAN = "podman"
    DOCKER = "docker"


class EngineAnswer(Struct, frozen=True):
    """The result of one engine command; `cut`: it was killed because it wrote too much to the disk."""

    code: int
    out: str
    err: str
    cut: bool = False

    @property
    def last_error(self) -> str:
        """The last line of stderr, or the exit code."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1][:200] if lines else f"exit code {self.code}"


class Engine(Struct, frozen=True):
    """A client program, and its environment."""

    flavour: EngineFlavour
    binary: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def client_environment(self) -> dict[str, str]:
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin", "LANG": "C.UTF-8", **self.environment}

    async def run(
        self,
        *arguments: str,
        seconds: float = COMMAND_SECONDS,
        most_written: int | None = None,
        store: Path | None = None,
    ) -> EngineAnswer:
        """Run one command to its end; raises SandboxError if it takes too long or prints too much.

        With `most_written`, it is killed after it wrote more bytes to the disk, or after the usage of the file system
        of `store`, to which a daemon writes for it, grew by more, even if other programs caused that.
        """
        process = await self._spawn(arguments)
        watch = asyncio.create_task(_kill_after_writing(process, most_written, store))
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

    async def run_checked(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> str:
        """The output of a command that must succeed; raises SandboxError with its last error line."""
        answer = await self.run(*arguments, seconds=seconds)
        if answer.code:
            raise SandboxError(f"{self.flavour} {arguments[0]} failed: {answer.last_error}")
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


async def _kill_after_writing(process: asyncio.subprocess.Process, most: int | None, store: Path | None) -> None:
    """Kill a client and its children once more than `most` bytes were written, then return."""
    written, before = dict[int, int](), _used_bytes(store)
    while most is None or max(sum(written.values()), _used_bytes(store) - before) <= most:
        await asyncio.sleep(POLL)
        for pid in list_descendants(process.pid) if most is not None else ():
            written[pid] = max(written.get(pid, 0), _written_bytes(pid))
    _kill(process)


def _used_bytes(store: Path | None) -> int:
    """Bytes in use on a file system; 0 if it is not accessible, as that of a virtual machine."""
    try:
        found = os.statvfs(store) if store is not None else None
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize if found else 0


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _written_bytes(pid: int) -> int:
    """Bytes that a process wrote to storage; 0 if it has ended or is not accessible."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text("ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes:"))
    except (OSError, ValueError, StopIteration):
        return 0
