"""One probe of one target: open it, read its lists, and sum up what was seen on the way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from crawler.collectors.protocol.body import listing_body
from crawler.collectors.protocol.dialogue import Budget, Dialogue, ProbeLimits
from crawler.collectors.protocol.lists import Walker
from crawler.collectors.protocol.opening import SSE_FALLBACK, Opened, Refused, discover, initialize
from crawler.collectors.protocol.verdict import absence, exited
from crawler.courtesy import Courtesy
from crawler.wire.address import parse_url
from crawler.wire.failures import InvalidTarget
from crawler.wire.http import Engine, Visit
from crawler.wire.launch import Launched, Launcher
from crawler.wire.mcp import Channel, Era
from crawler.wire.scrub import scrub
from crawler.wire.sse import SseChannel
from crawler.wire.stdio import StdioChannel
from crawler.wire.streamable import Post, StreamableHttp
from crawler.wire.transcript import Reply, Transcript
from evidence.canonical import Json
from evidence.model import Absent, Observed, Reason, Target, TargetType

_OWN_PAUSE: Final = 0.1  # seconds before a second try at the operator's own server
_TELLING: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)
_OBSERVED_HEADERS: Final = ("server", "date", "via", "x-powered-by")


@dataclass(frozen=True, slots=True)
class Probed:
    """The content of a listing record and its volatile observation."""

    content: Observed | Absent
    observation: Mapping[str, Json] = field(default_factory=dict)
    transcript: Transcript | None = None


class _Probe:
    """What both probes share: limits, budget, transcript."""

    def __init__(
        self, courtesy: Courtesy, clock: Callable[[], datetime], limits: ProbeLimits, client_version: str
    ) -> None:
        self.courtesy = courtesy
        self.clock = clock
        self.limits = limits
        self.client_version = client_version
        self.budget = Budget(limits.requests)
        self.transcript = Transcript()
        self.notes: dict[str, Json] = {}

    def dialogue(self, channel: Channel, post: Post | None = None) -> Dialogue:
        """A dialogue on this probe's budget; a process, which has no host, is asked nothing twice."""
        limits = self.limits
        if post and post.gapless:
            limits = dataclasses.replace(limits, retry_pause=min(limits.retry_pause, _OWN_PAUSE))
        host = post.url.origin.host if post else ""
        return Dialogue(channel, host=host, courtesy=self.courtesy, clock=self.clock, limits=limits, budget=self.budget)

    async def read(self, target: Target, opened: Opened, sandbox: str) -> Observed | Absent:
        """Read the lists of an opened server into a listing body, which stays within what `Listing` reads."""
        if len(opened.answer.span) > self.limits.opening_bytes:
            return Absent(Reason.TOO_LARGE, f"an opening of more than {self.limits.opening_bytes} bytes")

        async def reopen() -> bool:
            self.notes["session_unstable"] = True
            return isinstance(await initialize(opened.dialogue, self.client_version), Opened)

        session = opened.dialogue.channel.session is not None
        lists = await Walker(opened, reopen).walk_all()
        self.notes["session"] = session
        if opened.dialogue.oddities:
            self.notes["oddities"] = sorted(opened.dialogue.oddities)
        return Observed(listing_body(target, opened, sandbox, lists))

    def result(self, content: Observed | Absent) -> Probed:
        """The outcome with everything volatile beside it."""
        exchanges = self.transcript.summary()
        headers = {
            name: value
            for exchange in self.transcript.exchanges[:1]
            for name in _OBSERVED_HEADERS
            if (value := exchange.header(name))
        }
        observation: dict[str, Json] = {"requests": len(exchanges), "exchanges": exchanges, **self.notes}
        return Probed(content, observation | ({"headers": headers} if headers else {}), self.transcript)


class RemoteProbe(_Probe):
    """Probes a URL: modern, then legacy, then HTTP+SSE; the other way round when the registry says `sse`."""

    def __init__(
        self,
        engine: Engine,
        courtesy: Courtesy,
        clock: Callable[[], datetime],
        limits: ProbeLimits,
        client_version: str,
    ) -> None:
        super().__init__(courtesy, clock, limits, client_version)
        self._engine = engine
        self._own = False

    async def run(self, target: Target) -> Probed:
        """Open and list the target."""
        try:
            origin = parse_url(target.identifier).origin
        except InvalidTarget as error:
            return self.result(error.absent())
        async with self._engine.visit(seconds=self.limits.total) as visit:
            self._own = await visit.is_private(origin)
            async with nullcontext() if self._own else self.courtesy.visit(origin.host):
                content = await self._visit(target, visit)
        return self.result(content)

    async def _visit(self, target: Target, visit: Visit) -> Observed | Absent:
        opened = await self._open(target, visit)
        if isinstance(opened, Refused):
            return absence(opened.reply, opened.asked)
        content = await self.read(target, opened, "")
        await self._end(target, opened)
        return content

    async def _open(self, target: Target, visit: Visit) -> Opened | Refused:
        if target.type is TargetType.SSE:
            opened = await self._open_sse(target, visit)
            if isinstance(opened, Opened) or not _may_be_other_transport(opened.reply):
                return opened
            other = await self._open_streamable(target, visit)
            return other if isinstance(other, Opened) else opened
        opened = await self._open_streamable(target, visit)
        if isinstance(opened, Opened) or opened.reply.status not in SSE_FALLBACK:
            return opened
        other = await self._open_sse(target, visit)
        telling = isinstance(other, Refused) and absence(other.reply, other.asked).reason in _TELLING
        return other if isinstance(other, Opened) or telling else opened

    async def _open_streamable(self, target: Target, visit: Visit) -> Opened | Refused:
        post = self._post(target, visit, TargetType.STREAMABLE_HTTP)
        dialogue = self.dialogue(StreamableHttp(post, self.client_version), post)
        modern = await discover(dialogue, retry=True)
        if isinstance(modern, Opened) or (modern.reply.failure and not modern.reply.failure.connected):
            return modern
        return await initialize(dialogue, self.client_version)

    async def _open_sse(self, target: Target, visit: Visit) -> Opened | Refused:
        post = self._post(target, visit, TargetType.SSE)
        channel = SseChannel(post)
        self.budget.spend()
        reply = await channel.open()
        if not channel.is_open:
            await channel.close()
            return Refused(reply, "GET")
        return await initialize(self.dialogue(channel, post), self.client_version)

    def _post(self, target: Target, visit: Visit, transport: TargetType) -> Post:
        url = parse_url(target.identifier)
        return Post(
            visit,
            url,
            self.courtesy,
            self.transcript,
            headers=target.headers,
            transport=transport,
            gapless=self._own,
        )

    async def _end(self, target: Target, opened: Opened) -> None:
        """Ask a modern server whether it is dual-era, and end a session politely."""
        eras = [opened.era.value]
        if opened.era is Era.MODERN and isinstance(await initialize(opened.dialogue, self.client_version), Opened):
            eras.append(Era.LEGACY.value)
        self.notes["eras"] = eras
        await opened.dialogue.channel.close()


class StdioProbe(_Probe):
    """Probes a package or command: legacy first, since a process speaks one era and some die of an unknown method."""

    def __init__(
        self,
        launcher: Launcher,
        courtesy: Courtesy,
        clock: Callable[[], datetime],
        limits: ProbeLimits,
        client_version: str,
    ) -> None:
        super().__init__(courtesy, clock, limits, client_version)
        self._launcher = launcher

    async def run(self, target: Target) -> Probed:
        """Start, open, list and stop the target."""
        launched = await self._launcher.launch(target)
        if isinstance(launched, Absent):
            return self.result(launched)
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
            return self.result(exited(channel.exit, launched.facts, noise, content.reply, content.asked))
        return self.result(content)

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
        if channel.noise:
            self.notes["noise_lines"] = len(channel.noise)
        return content


def _may_be_other_transport(reply: Reply) -> bool:
    """True when a GET was answered by something that may speak streamable HTTP under the same URL."""
    return reply.status in SSE_FALLBACK or (reply.status == 200 and reply.failure is not None)
