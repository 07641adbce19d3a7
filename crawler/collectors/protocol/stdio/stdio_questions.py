"""The full depth over stdio: the inquiries that every transport carries, asked of as many processes as needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from msgspec.structs import replace

from crawler.collectors.protocol.listing.list_walker import LIST_METHODS, find_paged_lists
from crawler.collectors.protocol.probes.probe import Probe
from crawler.collectors.protocol.questions.inquiries import MALFORMED, UNKNOWN_VERSION, Inquiry, ServerFacts
from crawler.collectors.protocol.questions.interview import Interview
from crawler.collectors.protocol.questions.legacy import (
    OLDER_VERSIONS,
    legacy_inquiries,
    malformed_inquiry,
    name_opening,
    opening_inquiry,
)
from crawler.collectors.protocol.questions.modern import (
    ELSEWHERE,
    LISTEN,
    malformed_discover,
    other_connection_inquiry,
    stdio_inquiries,
)
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.collectors.protocol.session.handshake import Opened, discover, initialize, note_negotiation
from crawler.collectors.protocol.stdio.processes import StartedProcess, TargetProcesses
from crawler.mcp.channel import LEGACY_VERSION, MODERN_VERSION, Era
from crawler.mcp.stdio import StdioChannel
from crawler.mcp.transcript import Reply, SessionLink, Transcript
from evidence.kinds.listing import LISTS
from evidence.model import Absent

_ANSWER_SECONDS: Final = 10.0  # seconds until an inquiry is answered
# A malformed line need not be answered, and a subscription is only watched.
_WAITS: Final[Mapping[str, float]] = {MALFORMED: 2.0, LISTEN: 3.0}
_AGREEMENT_SECONDS: Final = 2.0  # seconds until a process that was asked before agrees to a version
_KNOWN: Final = frozenset({LEGACY_VERSION, *OLDER_VERSIONS})
_EXIT_SECONDS: Final = 5.0  # seconds to exit after the end of input (2026-07-28 transports, Shutdown)
_TRANSPORT: Final = "stdio"

UseProcess: TypeAlias = Callable[[StdioChannel], Awaitable[None]]


class StdioQuestions:
    """Asks the processes of a target the inquiries of a probe."""

    def __init__(self, probe: Probe, processes: TargetProcesses, names: RandomNames) -> None:
        self._probe = probe
        self._names = names
        self._processes = processes
        versions = (UNKNOWN_VERSION, *OLDER_VERSIONS)
        self._unoffered = [one for one in versions if self._wants(Era.LEGACY, name_opening(one))]

    async def ask(
        self,
        opened: Opened,
        channel: StdioChannel,
        *,
        dual: bool = False,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Ask an opened process all its inquiries, and let it exit.

        The last of them and the exit take long, since only silence is awaited: others are asked `meanwhile`.
        """
        interview, link = self._interview(channel), opened.dialogue.link(opened.era)
        for inquiry in self._inquiries(opened, channel, dual=dual):
            await self._ask(interview, link, inquiry, channel)
        transcript = self._probe.transcript
        mark, branch = transcript.mark(), transcript.branch()
        interview.record_in(branch)
        channel.record_in(branch)
        ending = asyncio.ensure_future(self._end(interview, link, opened.era, channel, branch))
        try:
            if meanwhile is not None:
                await meanwhile()
            await ending
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
        transcript.insert(mark, branch)

    async def _end(
        self, interview: Interview, link: int, era: Era, channel: StdioChannel, transcript: Transcript
    ) -> None:
        """Send a legacy process a malformed line, let it exit, and stop it, so that others may use its slot."""
        if era is Era.LEGACY:
            await self._ask(interview, link, malformed_inquiry(channel.next_id), channel)
        since = len(transcript.exchanges)
        await channel.close_input(_EXIT_SECONDS)
        transcript.name(since, "close", 0, link)
        await channel.close()

    async def ask_fresh_process(self, era: Era) -> None:
        """Open one more process in an era and ask that one, when the first can no longer be asked."""
        async with self._processes.started(self._probe.transcript) as process:
            if isinstance(process, StartedProcess):
                dialogue = self._probe.dialogue(process.channel)
                legacy = era is Era.LEGACY
                opened = await (
                    initialize(dialogue, self._probe.client_version) if legacy else discover(dialogue, retry=False)
                )
                if isinstance(opened, Opened):
                    await self.ask(opened, process.channel)

    async def try_modern_era(self, use_refusing: UseProcess) -> Opened | None:
        """Open a process of a legacy server in the modern era, list and ask; None when it does not open.

        `use_refusing` gets one that answered that it does not speak this era, and which may still speak the other.
        """
        async with self._processes.started(self._probe.transcript) as process:
            if isinstance(process, Absent):
                return None
            dialogue = self._probe.dialogue(process.channel)
            opened = await discover(dialogue, retry=False)
            if not isinstance(opened, Opened):
                if opened.reply.answer is not None:
                    await use_refusing(process.channel)
                return None
            self._processes.start_ahead(2)  # another one of this era, and one for other versions
            for name in LISTS:
                if _facts(opened).declares(name):
                    await dialogue.ask(LIST_METHODS[name], {}, Era.MODERN, retry=False)
            await self.ask(opened, process.channel, dual=True)
        return opened

    async def offer_versions(self) -> None:
        """Offer an unknown version, and each other legacy one, to as few processes as show how a new one answers.

        The unknown version is the first, since any answer to it could be about an earlier version.
        """
        while self._unoffered:
            first = self._unoffered.pop(0)
            async with self._further_process(_legacy_link(first)) as (connection, interview, channel):
                await self._offer(first, connection, interview, channel, _ANSWER_SECONDS)
                if channel is not None:
                    await self._offer_while_agreed(interview, channel)

    async def offer_versions_to(self, channel: StdioChannel) -> bool:
        """Offer the versions to a process that was asked something but not opened; whether it agreed to all of them.

        Those to which it agrees are not offered again.
        """
        await self._offer_while_agreed(self._interview(channel), channel)
        return not self._unoffered

    async def _offer_while_agreed(self, interview: Interview, channel: StdioChannel) -> None:
        """Offer a process one version after the other while it agrees, as a new one would as well.

        Every other answer may come from what it was asked before. It is not recorded, and the rest is not offered.
        """
        transcript = self._probe.transcript
        while self._unoffered:
            version = self._unoffered[0]
            mark, link = transcript.mark(), _legacy_link(version)
            await self._offer(version, transcript.connect(link), interview, channel, _AGREEMENT_SECONDS)
            if link.negotiated not in (_KNOWN if version == UNKNOWN_VERSION else {version}):
                transcript.rewind(mark)
                return
            self._unoffered.pop(0)

    async def _offer(
        self, version: str, connection: int, interview: Interview, channel: StdioChannel | None, seconds: float
    ) -> None:
        identifier = channel.next_id() if channel is not None else _no_number()
        inquiry = opening_inquiry(self._probe.client_version, version, identifier)
        reply = await self._ask(interview, connection, inquiry, channel, seconds)
        if reply is not None:
            note_negotiation(self._probe.transcript.links[connection], reply)

    async def ask_on_other_process(self, opened: Opened, *, dual: bool) -> None:
        """List the tools of another process of the modern era; the truncated line comes last.

        `dual`: the truncated line is sent in the other era.
        """
        lists = _facts(opened).declares("tools") and self._wants(Era.MODERN, ELSEWHERE)
        asks_malformed = not dual and self._wants(Era.MODERN, MALFORMED)
        if not (lists or asks_malformed):
            return
        link = SessionLink(_TRANSPORT, Era.MODERN.value, MODERN_VERSION, True, MODERN_VERSION)
        async with self._further_process(link) as (connection, interview, channel):
            count = channel.next_id if channel is not None else _no_number
            if lists:
                inquiry = other_connection_inquiry(self._probe.client_version, count)
                await self._ask(interview, connection, inquiry, channel)
            if asks_malformed:
                await self._ask(interview, connection, malformed_discover(count), channel)

    def _wants(self, era: Era, step: str) -> bool:
        selection = self._probe.options.selection
        return selection is None or selection.contains(era.value, step)

    def _inquiries(self, opened: Opened, channel: StdioChannel, *, dual: bool) -> Iterator[Inquiry]:
        if opened.era is Era.MODERN:
            paged = () if dual else find_paged_lists(self._probe.lists)
            facts = replace(_facts(opened, paged=paged, dual=dual), listen=self._probe.options.listen)
            yield from stdio_inquiries(facts, self._probe.client_version, channel.next_id)
        else:
            facts = _facts(opened, paged=find_paged_lists(self._probe.lists))
            yield from legacy_inquiries(facts, channel.next_id, lists=False)

    @asynccontextmanager
    async def _further_process(self, link: SessionLink) -> AsyncIterator[tuple[int, Interview, StdioChannel | None]]:
        """One more process on a connection of its own; without one its questions are recorded as not collected."""
        transcript = self._probe.transcript
        async with self._processes.started(transcript) as process:
            channel = process.channel if isinstance(process, StartedProcess) else None
            yield transcript.connect(link), self._interview(channel), channel

    async def _ask(
        self,
        interview: Interview,
        connection: int,
        inquiry: Inquiry,
        channel: StdioChannel | None,
        most: float = _ANSWER_SECONDS,
    ) -> Reply | None:
        async def send(asked: Inquiry) -> Reply:
            if channel is None:
                raise AssertionError("an interview without time asks nothing")
            seconds = min(_WAITS.get(asked.step, most), self._probe.limits.stdio_answer)
            send = channel.send_malformed if asked.step == MALFORMED else channel.send_raw
            return await send(asked.label, asked.body, seconds=seconds)

        return await interview.ask(connection, inquiry, send)

    def _interview(self, channel: StdioChannel | None) -> Interview:
        """Half of the time that a process has left is reserved for its exit; without a process there is no time."""
        now = asyncio.get_running_loop().time()
        return Interview(
            self._probe.transcript,
            self._probe.make_question_budget(len(self._probe.transcript.exchanges)),
            self._probe.limiter,
            ends=now if channel is None else now + channel.left / 2,
            pause=0,
            hold_back=_no_pause,
            names=self._names,
            selection=self._probe.options.selection,
        )


def _facts(opened: Opened, *, paged: tuple[str, ...] = (), dual: bool = False) -> ServerFacts:
    return ServerFacts(era=opened.era, capabilities=opened.capabilities, paged=paged, dual=dual)


def _legacy_link(offered: str) -> SessionLink:
    return SessionLink(_TRANSPORT, Era.LEGACY.value, offered)


def _no_pause(_: Reply) -> None:
    """A process never asks for a pause."""


def _no_number() -> int:
    return 0
