"""A server process for tests: started on a fixed loopback port, stopped on exit, and never outliving its parent."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO

# One file for each port that a test process has reserved.
_PORTS = Path(tempfile.gettempdir()) / f"hallmark-test-ports-{os.getuid()}"
_RESERVED: dict[int, IO[str]] = {}

START_SECONDS = 300.0
STOP_SECONDS = 100.0

# Reads until its standard input closes, which happens when the test process ends in any way, then ends the server.
_WATCH = 'read -r _; kill -"$1" "$2" 2>/dev/null'


class Daemon:
    """One child process that answers on `port` once `ready()` is true. `start` and `stop` may alternate."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        port: int,
        log: Path,
        ready: Callable[[int], bool],
        user: int | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.port = port
        self._command = list(command)
        self._log = log
        self._ready = ready
        self._user = user
        self._signal = stop_signal
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    @property
    def folder(self) -> Path:
        """Where it keeps its log and its data."""
        return self._log.parent

    @property
    def died(self) -> bool:
        """True when it ended without being stopped."""
        return self._process is not None and self._process.poll() is not None

    @property
    def pid(self) -> int:
        assert self._process is not None, "not running"
        return self._process.pid

    def start(self) -> None:
        """Start the process and wait until it answers; raise with its log when it does not."""
        assert self._process is None, "already running"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                extra_groups=None if self._user is None else [],
                cwd=self._log.parent,
                start_new_session=True,
            )
        signal_number = str(int(self._signal))
        watch = ["sh", "-c", _WATCH, "watch", signal_number, str(self._process.pid)]
        self._watch = subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True)
        self._wait_until_ready()

    def stop(self) -> None:
        """Stop in the server's orderly way."""
        self._end(self._signal)

    def kill(self) -> None:
        """End with SIGKILL, as a crash would."""
        self._end(signal.SIGKILL)

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let the process and its children stand still."""
        family = [self.pid, *_list_children(self.pid)]
        for process in family:
            _signal(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in family:
                _signal(process, signal.SIGCONT)

    def restart(self) -> None:
        """Stop and start on the same port with the same data."""
        self.stop()
        self.start()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._ready(self.port):
            died = self._process is None or self._process.poll() is not None
            if died or time.monotonic() > deadline:
                self._end(signal.SIGKILL)
                raise RuntimeError(
                    f"{self._command[0]} did not start:\n{self._log.read_text(errors='replace')[-4000:]}"
                )
            time.sleep(0.02)

    def _end(self, number: signal.Signals) -> None:
        if self._watch is not None:
            self._watch.kill()
            self._watch.communicate()
            self._watch = None
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def _list_children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _signal(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def free_port() -> int:
    """A loopback port on which no process listens, and which no other test process gets while this one lives.

    The port is outside of the range that the kernel takes ports of connections from.
    """
    for port in chain(range(20_000 + os.getpid() % 8_000, 30_000), range(20_000, 30_000)):
        if port not in _RESERVED and _reserve(port) and _is_free(port):
            return port
    raise RuntimeError("no port is free")


def _reserve(port: int) -> bool:
    """Lock the file of a port. The kernel removes the lock when this process ends."""
    _PORTS.mkdir(exist_ok=True)
    file = (_PORTS / str(port)).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    _RESERVED[port] = file
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
