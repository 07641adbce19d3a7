"""One running server: a process on a port of loopback, with its memory and its unfinished tasks."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 60.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Instance:
    """A server that listens."""

    url: str
    transport: str
    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def memory(self) -> int:
        """Resident bytes of the process and its children."""
        return sum(_resident(pid) for pid in _family(self.process.pid))

    def tasks(self) -> int | None:
        """Unfinished asyncio tasks or open sessions; None when the server does not count them."""
        file = self.folder / "count"
        file.unlink(missing_ok=True)
        if not _handles(self.process.pid, signal.SIGUSR2):
            return None
        os.kill(self.process.pid, signal.SIGUSR2)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            with contextlib.suppress(FileNotFoundError, ValueError):
                return int(file.read_text())
            time.sleep(0.01)
        return None


@contextlib.contextmanager
def serving(
    command: Sequence[str], transport: str, port: int, path: str, environment: Mapping[str, str], where: Path
) -> Iterator[Instance]:
    """Start a server in the folder `where`, wait until it accepts a connection, and kill its processes at the end."""
    with tempfile.TemporaryDirectory(prefix="matrix-") as name:
        folder = Path(name)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=where,
                env={**environment, "PORT": str(port), "MATRIX_COUNT": str(folder / "count")},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        instance = Instance(f"http://127.0.0.1:{port}{path}", transport, process, folder)
        try:
            _wait(instance, port)
            yield instance
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(instance: Instance, port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if instance.process.poll() is not None:
            raise RuntimeError(f"the server ended:\n{instance.log[-1500:]}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"the server does not listen:\n{instance.log[-1500:]}")


def _family(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        with contextlib.suppress(OSError):
            waiting += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return found


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


def _handles(pid: int, number: int) -> bool:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False
