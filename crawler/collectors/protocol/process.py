"""A probe of a package or command: legacy first, since a process speaks one era and some die of an unknown method."""

from __future__ import annotations

from crawler.collectors.protocol.opening import Opened, Refused, discover, initialize
from crawler.collectors.protocol.probe import Manner, Means, Probe, Probed
from crawler.collectors.protocol.verdict import exited
from crawler.wire.launch import Launched, Launcher
from crawler.wire.scrub import scrub
from crawler.wire.stdio import StdioChannel
from evidence.model import Absent, Observed, Target


class StdioProbe(Probe):
    """Probes one package or command."""

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
        if isinstance(content, Refused):
            noise = b"\n".join(channel.noise)
            return self.result(target, exited(channel.exit, launched.facts, noise, content.reply, content.asked))
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

    async def _talk(self, target: Target, channel: StdioChannel, sandbox: str) -> Observed | Absent | Refused:
        dialogue = self.dialogue(channel)
        opened = await initialize(dialogue, self.client_version)
        if isinstance(opened, Refused) and opened.reply.answer is not None:
            modern = await discover(dialogue, retry=False)
            opened = modern if isinstance(modern, Opened) else opened
        if isinstance(opened, Refused):
            return opened
        content = await self.read(target, opened, sandbox)
        await self.try_tools(opened)
        if channel.noise:
            self.notes["noise_lines"] = len(channel.noise)
        return content
