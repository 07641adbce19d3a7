"""A launcher for tests: starts a command as it is, with pipes and a watched exit; and what it is tried on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping

from crawler.launcher import ProcessExit
from evidence.canonical import Json
from evidence.kinds.behaviour import Behaviour
from evidence.model import Absent, Reason, Target, TargetType
from tests.servers import preloaded


class Pipes:
    """A process started as it is."""

    def __init__(
        self, process: asyncio.subprocess.Process, runtime: str = "none", facts: Mapping[str, Json] | None = None
    ) -> None:
        self.runtime = runtime
        self._facts = facts or {"command": "test"}
        self._process = process
        self._stderr = asyncio.ensure_future(self._read_stderr())
        self.stops = 0
        self.behaviour: Behaviour | Absent = Absent(Reason.SANDBOX_RESTRICTED, "a test observes nothing")
        self.reading = asyncio.Event()
        self.ended = asyncio.Event()

    @property
    def facts(self) -> Mapping[str, Json]:
        return self._facts

    async def read(self, limit: int) -> bytes:
        assert self._process.stdout
        self.reading.set()
        return await self._process.stdout.read(limit)

    async def write(self, data: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def close_stdin(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    async def until_end(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()

    async def stop(self) -> ProcessExit:
        self.stops += 1
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        while await self.read(65536):  # asyncio's wait() never returns while a full pipe is paused
            pass
        code = await self._process.wait()
        self.ended.set()
        return ProcessExit(None if code == -signal.SIGKILL else code, await self._stderr)

    async def _read_stderr(self) -> str:
        assert self._process.stderr
        tail = b""
        while part := await self._process.stderr.read(65536):
            tail = (tail + part)[-65536:]
        return tail.decode("utf-8", "replace")


class PipeLauncher:
    """Starts commands and remembers what it started. `runtime` and `facts` are what it claims about them."""

    def __init__(self, runtime: str = "none", facts: Mapping[str, Json] | None = None) -> None:
        self.launched: list[Pipes] = []
        self.runtime = runtime
        self.facts = facts

    async def launch(self, target: Target) -> Pipes | Absent:
        process = await asyncio.create_subprocess_exec(
            *target.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self.launched.append(Pipes(process, self.runtime, self.facts))
        return self.launched[-1]


def module(name: str, *arguments: str) -> Target:
    """A command target that runs a module of the tests."""
    return Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-m", name, *arguments))


@contextlib.contextmanager
def sdk_server(transport: str) -> Iterator[Target]:
    """The small server on the official SDK, in a process of its own; of "streamable-http json", both words count."""
    if transport == "stdio":
        yield module("tests.servers.sdk_server", "stdio")
        return
    command = [sys.executable, "-m", "tests.servers.sdk_server", *transport.split()]
    with preloaded.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = f"http://127.0.0.1:{process.stdout.readline().strip()}"
            if transport == "sse":
                yield Target(type=TargetType.SSE, identifier=f"{address}/sse")
            else:
                yield Target(type=TargetType.STREAMABLE_HTTP, identifier=f"{address}/mcp")
        finally:
            process.kill()
