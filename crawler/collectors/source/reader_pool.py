"""A pool of processes that read archives; a process is replaced when it fails."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO, Final

from msgspec import Struct, to_builtins

from crawler.archives import Folder
from crawler.collectors.source.message_framing import receive_message, send_message
from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from crawler.http.deadlines import pause_deadline
from evidence.model import Absent, Reason

# Our environment is not passed on. One malloc arena makes the limit on memory a limit on use.
_ENVIRONMENT: Final = {"PATH": os.defpath, "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}
_START: Final = 30.0


class ReaderLimits(Struct, frozen=True, kw_only=True):
    """Limits of one reading: seconds of processor and of wall time, MiB of memory. `slots`: readings at once.

    A process is replaced after `readings`, so that memory leaks of a parser do not add up.
    """

    cpu: int = 60
    wall: float = 180.0
    memory: int = 2048
    slots: int = 2
    readings: int = 100


class ReaderPool:
    """Reads archives in separate processes. Close it; an idle reader also ends when this process does.

    `rules` is the text of a gitleaks file that replaces our own secret rules; `salt` is the installation's.
    """

    def __init__(self, *, salt: bytes, rules: str = "", limits: ReaderLimits | None = None) -> None:
        self._salt = salt
        self._rules = rules
        self._limits = limits or ReaderLimits()
        self._idle: list[_Process] = []
        self._slots = asyncio.Semaphore(self._limits.slots)

    async def read_archive(self, file: BinaryIO | Folder, task: ReadingTask) -> ReadingResult | Absent:
        """The bodies of an archive, or why there are none. A reading that is cancelled leaves no process."""
        with pause_deadline():
            await self._slots.acquire()
        try:
            return _parse_answer(await self._answer(file, task))
        except TimeoutError:
            # Wall time also depends on other processes of this machine, so this may be a failure of ours.
            return Absent(Reason.TIMEOUT, f"reading it takes more than {self._limits.wall:g} seconds")
        except _Died as died:
            return Absent(Reason.TOO_LARGE, died.why(self._limits))
        finally:
            self._slots.release()

    async def _answer(self, file: BinaryIO | Folder, task: ReadingTask) -> dict[str, Any]:
        """The answer of a process. One that was killed, perhaps because of other processes, is replaced once."""
        try:
            return await self._ask(file, task)
        except _Died as died:
            if not died.was_killed:
                raise
        return await self._ask(file, task)

    async def _ask(self, file: BinaryIO | Folder, task: ReadingTask) -> dict[str, Any]:
        message = {"task": to_builtins(task), "salt": self._salt.hex(), "seconds": self._limits.cpu}
        async with self._process() as process, asyncio.timeout(self._limits.wall):
            return await asyncio.to_thread(process.ask, message, file.fileno())

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for process in idle:
            process.kill()  # it holds nothing, and an interpreter takes a tenth of a second to end
            await asyncio.to_thread(process.end)

    async def _start_process(self, process: _Process, message: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(_START):
                await asyncio.to_thread(process.start, message)
        except (TimeoutError, _Died) as error:
            raise ReaderBroken(
                f"expected a process that reads archives; it {error or 'did not start in time'}"
            ) from error

    @asynccontextmanager
    async def _process(self) -> AsyncIterator[_Process]:
        """A process for one reading: it returns to the pool when the reading succeeded, else it is ended."""
        process = self._idle.pop() if self._idle else _Process()
        try:
            if not process.started:
                start = {"rules": self._rules, "memory": self._limits.memory}
                await self._start_process(process, start)
            yield process
        except BaseException:
            process.kill()
            await asyncio.shield(asyncio.to_thread(process.end))
            raise
        if process.readings < self._limits.readings:
            self._idle.append(process)
        else:
            await asyncio.to_thread(process.end)


class ReaderBroken(RuntimeError):
    """No reader process can be started: a failure of our own infrastructure."""


class _Died(Exception):
    """The process ended during a request."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"ended with {code}")
        self._code = code

    @property
    def was_killed(self) -> bool:
        """Whether it was killed from outside: by the kernel for lack of memory, or by an operator."""
        return self._code == -signal.SIGKILL

    def why(self, limits: ReaderLimits) -> str:
        if self._code == -signal.SIGXCPU:
            return f"reading it takes more than {limits.cpu} seconds of processor time"
        return "reading it ended the process that did"


class _Process:
    """One process and its socket. The methods other than `kill` block and belong into a thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._killed = False
        self.readings = 0

    @property
    def started(self) -> bool:
        return self._process is not None

    def start(self, message: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._line = ours
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-I", "-m", "crawler.collectors.source.reader_process", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        if self._killed:
            self.kill()
        self._exchange(message)

    def ask(self, message: dict[str, Any], handle: int) -> dict[str, Any]:
        self.readings += 1
        return self._exchange(message, handle)

    def kill(self) -> None:
        self._killed = True
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2.0)
            self._process.kill()
            self._process.wait()

    def _exchange(self, message: dict[str, Any], *handles: int) -> dict[str, Any]:
        assert self._line is not None
        assert self._process is not None
        try:
            send_message(self._line, message, handles)
            answer, _ = receive_message(self._line)
        except (EOFError, OSError, ValueError) as error:
            self._process.kill()
            raise _Died(self._process.wait()) from error
        return answer


def _parse_answer(answer: dict[str, Any]) -> ReadingResult | Absent:
    why = str(answer.get("why", ""))
    match answer["outcome"]:
        case "reading":
            return ReadingResult(**answer["body"])
        case "no_folder":
            return Absent(Reason.NO_REPOSITORY, why)
        case "too_large":
            return Absent(Reason.TOO_LARGE, f"reading it is not possible: {why}")
    return Absent(Reason.INSTALL_FAILED, f"the archive cannot be read: {why}")
