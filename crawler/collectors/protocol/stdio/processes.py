"""The processes of one target: asked no longer all together than the limit for one server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from msgspec import Struct

from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.session.dialogue import ProbeLimits
from crawler.http.connection import TIME_OVER
from crawler.http.deadlines import isolate_shared_work, pause_deadline
from crawler.launcher import LaunchedServer, Launcher
from crawler.mcp.stdio import StdioChannel
from crawler.mcp.transcript import Transcript
from evidence.canonical import Json
from evidence.model import Absent, Reason, Target

_Ahead: TypeAlias = tuple[LaunchedServer | Absent, float]
"""What was started ahead, and when."""

_TOTAL_FACTOR: Final = 2.5  # times the limit for one server, which bounds a single process
_STOPPING: Final[set[asyncio.Future[None]]] = set()  # keeps references, which the event loop does not
_VOLATILE_FACTS: Final = frozenset({"reinstalled"})
_INSTALLED: Final = {"declared": "declared", "dependenciesOf": "dependencies_of"}
_FRESH_SECONDS: Final = 20.0  # seconds that a process may wait to be asked: some end, and the sandbox limits its life


class StartedProcess(Struct, frozen=True):
    """One started process: its channel, the runtime that contains it, and stable facts about it."""

    channel: StdioChannel
    runtime: str
    facts: Mapping[str, Json]


def describe_installation(facts: Mapping[str, Json]) -> Mapping[str, Json]:
    """What was started, if an installation as declared today would not start; else empty."""
    kept = {name: facts[fact] for name, fact in _INSTALLED.items() if facts.get(fact)}
    return {"version": facts.get("version"), **kept} if kept else {}


def is_same_start(facts: Mapping[str, Json], others: Mapping[str, Json]) -> bool:
    """Whether two starts were of the same files with the same input; how they were installed does not matter."""
    return all(facts.get(name) == others.get(name) for name in {*facts, *others} - _VOLATILE_FACTS)


class TargetProcesses:
    """Starts a target on demand. A caller must not start a second process while one is running, unless it is started
    ahead or the running one ends by itself.

    A server holds a slot of the sandbox while its process lives, so waiting for a second one would let servers wait for
    each other without end. What is started `ahead` waits for its slot while the running process is asked and ends.
    `time` is what earlier starts of the server have left.
    """

    def __init__(
        self,
        launcher: Launcher,
        target: Target,
        limits: ProbeLimits,
        client_version: str,
        time: AskingTime | None = None,
    ) -> None:
        self._launcher = launcher
        self._target = target
        self._limits = limits
        self._client_version = client_version
        self._time = AskingTime(limits.all_starts) if time is None else time
        self._here = AskingTime(limits.total * _TOTAL_FACTOR)
        self._facts: Mapping[str, Json] | None = None
        self._ahead: list[asyncio.Task[_Ahead]] = []
        self._running: list[StdioChannel] = []

    def start_ahead(self, count: int) -> None:
        """Start the next `count` processes while one is running, as far as several may live at a time."""
        for _ in range(min(count, self._limits.processes - 1) - len(self._ahead)):
            self._ahead.append(asyncio.create_task(self._launch_ahead(), context=isolate_shared_work()))

    @property
    def left(self) -> float:
        """Seconds that the next process may take, without those that running ones have taken so far."""
        lived = sum(one.lived for one in self._running)
        return min(self._limits.total, self._here.seconds - lived, self._time.seconds - lived)

    @property
    def are_ahead(self) -> bool:
        """Whether the next process is being started, so that it needs no slot of one that still runs."""
        return bool(self._ahead)

    async def close(self) -> None:
        """Stop what was started ahead and is not needed. It is stopped completely even if the caller is cancelled."""
        if self._ahead:
            stopping = asyncio.ensure_future(_stop_all(self._ahead))
            _STOPPING.add(stopping)
            stopping.add_done_callback(_STOPPING.discard)
            await asyncio.shield(stopping)

    @asynccontextmanager
    async def started(self, transcript: Transcript) -> AsyncIterator[StartedProcess | Absent]:
        """A process that is stopped when the context ends; Absent gives the reason why there is none.

        Every process has its own file system and memory. A process that differs from the first one, for example because
        a new version of the package was published in between, is not used.
        """
        if AskingTime(self.left).is_over:
            yield Absent(Reason.NOT_COLLECTED, TIME_OVER)
            return
        launched = await self._launch()
        if isinstance(launched, Absent):
            yield launched
            return
        channel = StdioChannel(
            launched,
            transcript,
            self._client_version,
            seconds=self._limits.stdio_answer,
            total=self.left,
            line_bytes=self._limits.line_bytes,
        )
        self._running.append(channel)
        try:
            facts = dict(launched.facts)
            self._facts = self._facts or facts
            if is_same_start(facts, self._facts):
                yield StartedProcess(channel, launched.runtime, facts)
            else:
                yield Absent(Reason.NOT_COLLECTED, "what is started has changed in between")
        finally:
            await channel.close()
            self._running.remove(channel)
            for left in (self._here, self._time):
                left.spend(channel.lived)

    async def _launch_ahead(self) -> _Ahead:
        launched = await self._launcher.launch(self._target)
        return launched, asyncio.get_running_loop().time()

    async def _launch(self) -> LaunchedServer | Absent:
        while self._ahead:
            with pause_deadline():
                # All stay in the list while we wait, so that a caller that is cancelled loses none. The first one that
                # is there is used: the others may wait for the slots that such processes of several scans hold.
                await asyncio.wait(self._ahead, return_when=asyncio.FIRST_COMPLETED)
            first = next(one for one in self._ahead if one.done())
            launched, since = first.result()
            is_stale = asyncio.get_running_loop().time() - since > _FRESH_SECONDS
            if is_stale and not isinstance(launched, Absent):
                await launched.stop()
            self._ahead.remove(first)
            if not is_stale:
                return launched
        return await self._launcher.launch(self._target)


async def _stop_all(tasks: Collection[asyncio.Task[_Ahead]]) -> None:
    for task in tasks:
        task.cancel()
    for found in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(found, BaseException) and not isinstance(found[0], Absent):
            await found[0].stop()
