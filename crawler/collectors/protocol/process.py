"""A probe of a package or command: legacy first, since a process speaks one era and some die of an unknown method."""

from __future__ import annotations

import asyncio
from typing import Final

from crawler.collectors.protocol.caution import policy_for
from crawler.collectors.protocol.inquiries import MALFORMED, Facts, Inquiry
from crawler.collectors.protocol.inquiries_legacy import legacy_inquiries, malformed
from crawler.collectors.protocol.inquiries_modern import process_inquiries
from crawler.collectors.protocol.interview import Interview
from crawler.collectors.protocol.lists import paged_method
from crawler.collectors.protocol.opening import Opened, Refused, discover, initialize
from crawler.collectors.protocol.probe import Manner, Means, Probe, Probed
from crawler.collectors.protocol.verdict import exited
from crawler.wire.launch import Launched, Launcher
from crawler.wire.mcp import Era
from crawler.wire.scrub import scrub
from crawler.wire.stdio import StdioChannel
from crawler.wire.transcript import Reply
from evidence.model import Absent, Observed, Target

_PATIENCE: Final = 10.0  # seconds until an inquiry is answered
_BROKEN_PATIENCE: Final = 2.0  # a line that cannot be read need not be answered
_LEAVING: Final = 5.0  # seconds to exit after the end of input (2026-07-28 transports, Shutdown)


class StdioProbe(Probe):
    """Probes one package or command; to be asked in the other era, it is started a second time."""

    def __init__(self, launcher: Launcher, means: Means, manner: Manner) -> None:
        super().__init__(means, manner)
        self._launcher = launcher

    async def run(self, target: Target) -> Probed:
        """Start, open, list and stop the target."""
        launched = await self._launcher.launch(target)
        if isinstance(launched, Absent):
            return self.result(target, launched)
        self.notes["facts"] = dict(launched.facts)
        channel = self._channel(launched)
        try:
            content = await self._talk(target, channel, launched.runtime)
        finally:
            await channel.close()
        if channel.exit is not None:
            self.notes["exit"] = channel.exit.code
            self.notes["stderr"] = scrub(channel.exit.stderr)
        if isinstance(content, Refused) and content.reply.answer is not None:
            content = await self._begin_modern(target) or content
        if isinstance(content, Refused):
            noise = b"\n".join(channel.noise)
            return self.result(target, exited(channel.exit, launched.facts, noise, content.reply, content.asked))
        if self.manner.inquires_in(Era.MODERN) and self.notes["eras"] == [Era.LEGACY.value]:
            await self._meet_modern(target)
        return self.result(target, content)

    def _channel(self, launched: Launched) -> StdioChannel:
        return StdioChannel(
            launched,
            self.transcript,
            self.client_version,
            seconds=self.limits.stdio_answer,
            total=self.limits.total,
            line_bytes=self.limits.line_bytes,
        )

    async def _talk(self, target: Target, channel: StdioChannel, runtime: str) -> Observed | Absent | Refused:
        dialogue = self.dialogue(channel)
        opened = await initialize(dialogue, self.client_version)
        if isinstance(opened, Refused) and opened.reply.answer is not None:
            modern = await discover(dialogue, retry=False)
            opened = modern if isinstance(modern, Opened) else opened
        if isinstance(opened, Refused):
            return opened
        return await self._hear(target, opened, channel, runtime)

    async def _begin_modern(self, target: Target) -> Observed | Absent | None:
        """Open a second process in the modern era: a handshake that failed may have locked the first out of it."""
        launched = await self._launcher.launch(target)
        if isinstance(launched, Absent):
            return None
        channel = self._channel(launched)
        try:
            opened = await discover(self.dialogue(channel), retry=False)
            return await self._hear(target, opened, channel, launched.runtime) if isinstance(opened, Opened) else None
        finally:
            await channel.close()

    async def _hear(self, target: Target, opened: Opened, channel: StdioChannel, runtime: str) -> Observed | Absent:
        self.notes["eras"] = [opened.era.value]
        content = await self.read(target, opened, runtime)
        await self.try_tools(opened, policy_for(self.manner.policy, runtime))
        if self.manner.inquires:
            await self._inquire(opened, channel)
        if channel.noise:
            self.notes["noise_lines"] = len(channel.noise)
        return content

    async def _meet_modern(self, target: Target) -> None:
        """Start a second process and open it in the modern era, whatever became of the first one."""
        launched = await self._launcher.launch(target)
        if isinstance(launched, Absent):
            return
        channel = self._channel(launched)
        try:
            dialogue = self.dialogue(channel)
            opened = await discover(dialogue, retry=False)
            if isinstance(opened, Opened):
                self.notes["eras"] = [Era.LEGACY.value, Era.MODERN.value]
                if _facts(opened, None).declares("tools"):
                    await dialogue.ask("tools/list", {}, Era.MODERN, retry=False)
                await self._inquire(opened, channel)
        finally:
            await channel.close()

    async def _inquire(self, opened: Opened, channel: StdioChannel) -> None:
        """Ask a process everything that only a full probe asks, and let it go."""
        ends = asyncio.get_running_loop().time() + channel.left / 2  # the rest is for the process to exit in
        interview = Interview(
            self.transcript,
            self.questions_left(len(self.transcript.exchanges)),
            self.courtesy,
            ends=ends,
            pause=0,
            hold_back=opened.dialogue.hold_back,
            chosen=self.manner.selection,
        )
        link = opened.dialogue.link(opened.era)

        async def send(inquiry: Inquiry) -> Reply:
            seconds = min(_BROKEN_PATIENCE if inquiry.step == MALFORMED else _PATIENCE, self.limits.stdio_answer)
            return await channel.put(inquiry.label, inquiry.body, seconds=seconds)

        if opened.era is Era.MODERN:
            for inquiry in process_inquiries(_facts(opened, None), self.client_version, channel.number):
                await interview.ask(link, inquiry, send)
        else:
            facts = _facts(opened, paged_method(self.lists))
            for inquiry in legacy_inquiries(facts, channel.number, lists=False):
                await interview.ask(link, inquiry, send)
            await interview.ask(link, malformed(channel.number), send)
        since = len(self.transcript.exchanges)
        await channel.leave(_LEAVING)
        self.transcript.name(since, "close", 0, link)


def _facts(opened: Opened, paged: str | None) -> Facts:
    return Facts(era=opened.era, capabilities=opened.capabilities, paged=paged)
