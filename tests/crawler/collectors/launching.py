"""A launcher for tests: starts a command as it is, with pipes and a watched exit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping

from crawler.wire.launch import Exit
from evidence.canonical import Json
from evidence.model import Absent, Target, TargetType


class Pipes:
    """A process started as it is."""

    runtime = "none"

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stderr = asyncio.ensure_future(self._read_stderr())
        self.stops = 0

    @property
    def facts(self) -> Mapping[str, Json]:
        return {"command": "test"}

    async def read(self, limit: int) -> bytes:
        assert self._process.stdout
        return await self._process.stdout.read(limit)

    async def write(self, data: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def close_stdin(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    async def stop(self) -> Exit:
        self.stops += 1
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        while await self.read(65536):  # asyncio's wait() never returns while a full pipe is paused
            pass
        code = await self._process.wait()
        return Exit(None if code == -signal.SIGKILL else code, await self._stderr)

    async def _read_stderr(self) -> str:
        assert self._process.stderr
        tail = b""
        while part := await self._process.stderr.read(65536):
            tail = (tail + part)[-65536:]
        return tail.decode("utf-8", "replace")


class PipeLauncher:
    """Starts commands; remembers what it started."""

    def __init__(self) -> None:
        self.launched: list[Pipes] = []

    async def launch(self, target: Target) -> Pipes | Absent:
        process = await asyncio.create_subprocess_exec(
            *target.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self.launched.append(Pipes(process))
        return self.launched[-1]


def module(name: str, *arguments: str) -> Target:
    """A command target that runs a module of the tests."""
    return Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-m", name, *arguments))
