"""The client's process as its parent handles it: started for one request, read for one line, and always ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from crawler.collectors.interop.request import InteropRequest, decode_answer
from evidence.model import Absent, Observed, Reason

_LINE: Final = 64 * 1024
_START: Final = 15.0  # seconds for the process to start and to end, on top of its own wall
# Our environment is not passed on. One malloc arena makes the limit on memory a limit on use.
_ENVIRONMENT: Final = {"PATH": os.defpath, "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}


async def run_client_process(request: InteropRequest, *, handles: Sequence[int] = ()) -> Observed | Absent:
    """The client's answer to one request, for which it inherits `handles`; the process has ended when this returns."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "crawler.collectors.interop.client"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_ENVIRONMENT,
        start_new_session=True,
        pass_fds=tuple(handles),
    )
    try:
        async with asyncio.timeout(request.wall + _START):
            line = await _talk(process, request)
            code = await process.wait()
    except TimeoutError:
        return Absent(Reason.TIMEOUT, f"the client did not finish within {request.wall:g} seconds")
    finally:
        await _end(process)
    if code in {-signal.SIGXCPU, -signal.SIGKILL}:
        return Absent(Reason.TOO_LARGE, f"the client needs more than {request.cpu} s of processor time")
    return decode_answer(line)


async def _talk(process: asyncio.subprocess.Process, request: InteropRequest) -> bytes:
    """Send the request and read at most one line's worth of bytes."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(request.to_json())
        await process.stdin.drain()
        process.stdin.close()
    parts: list[bytes] = []
    size = 0
    while size <= _LINE and (part := await process.stdout.read(_LINE)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process group, since the process leads a session of its own."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
