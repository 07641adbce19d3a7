"""Calls tools that do more than read, as the last that a process is asked; only their outcomes are recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Final, TypeAlias

from crawler.collectors.protocol.session.dialogue import Dialogue
from crawler.collectors.protocol.session.handshake import Opened
from crawler.collectors.protocol.stdio.processes import TargetProcesses
from crawler.http.failures import BudgetSpent
from crawler.mcp.stdio import StdioChannel
from crawler.mcp.transcript import Exchange, Reply, Transcript
from evidence.canonical import Json
from evidence.model import Absent

OpenProcess: TypeAlias = Callable[[StdioChannel, Transcript], Awaitable[Opened | None]]
"""Opens a process in the era of the first one; None when it does not open."""

_STARTS: Final = 3  # processes per server: a call that ends its process must not prevent the next call


class MutatingCallProcess:
    """Asks a process that is started when it is first needed, and a new one after a call without an answer.

    It is the last that a process is asked, so no call changes what is listed or answered. `running` is one that is open
    and was asked everything else; it is used before any is started. Its file system is deleted with a process.
    """

    def __init__(self, processes: TargetProcesses, open_process: OpenProcess, running: Opened | None = None) -> None:
        self._processes = processes
        self._open = open_process
        self._held = AsyncExitStack()
        self._opened = running
        self._starts = 0
        if running is not None:
            self._starts = 1
            self._held.push_async_callback(running.dialogue.channel.close)  # frees its slot before another one starts

    async def ready(self) -> None:
        """Start and open a process, unless one is open or an earlier start failed."""
        if self._opened is not None or self._starts >= _STARTS:
            return
        self._starts += 1
        transcript = Transcript()
        process = await self._held.enter_async_context(self._processes.started(transcript))
        if isinstance(process, Absent):
            self._starts = _STARTS
        else:
            self._opened = await self._open(process.channel, transcript)
        if self._opened is None:
            await self.close()

    async def ask(self, method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
        """The answer of the process that is `ready`; the failure `not_collected` when there is none."""
        if self._opened is None:
            return _unasked(method)
        dialogue: Dialogue = self._opened.dialogue
        since = len(dialogue.transcript.exchanges)
        reply = await dialogue.turn_page(method, params, self._opened.era, seconds=seconds)
        dialogue.transcript.forget(since)
        if reply.failure is not None:
            await self.close()
        return reply

    async def close(self) -> None:
        self._opened = None
        await self._held.aclose()


def _unasked(method: str) -> Reply:
    failure = BudgetSpent("no process to call it in")
    return Reply(Exchange(transport="stdio", method=method, request=b"", began=0, seconds=0, failure=failure))
