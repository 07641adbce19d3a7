"""A probe of a URL: modern, then legacy, then HTTP+SSE; the other way round when the registry says `sse`."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Final

from crawler.collectors.protocol.access import look_at_access
from crawler.collectors.protocol.caution import policy_for
from crawler.collectors.protocol.dialogue import failed_in_passing
from crawler.collectors.protocol.inquiries import Facts
from crawler.collectors.protocol.interview import Interview
from crawler.collectors.protocol.lists import paged_method
from crawler.collectors.protocol.opening import (
    SSE_FALLBACK,
    UNSUPPORTED_VERSION,
    Opened,
    Refused,
    discover,
    initialize,
)
from crawler.collectors.protocol.probe import Manner, Means, Probe, Probed
from crawler.collectors.protocol.questioning import Questioning, ask_over_stream
from crawler.collectors.protocol.verdict import absence
from crawler.credentials import Credential
from crawler.wire.address import parse_url
from crawler.wire.failures import InvalidTarget
from crawler.wire.http import Engine, Visit
from crawler.wire.mcp import LEGACY_VERSION, Era
from crawler.wire.sse import SseChannel
from crawler.wire.streamable import Post, StreamableHttp
from crawler.wire.transcript import Link, Reply
from evidence.model import Absent, Observed, Reason, Target, TargetType

_SPARED: Final = 0.1  # share of the time for one server in which no inquiry begins, so that sessions can be ended
_ENDINGS: Final = 2  # requests that end the sessions of both eras
_TELLING: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)


class RemoteProbe(Probe):
    """Probes one URL."""

    def __init__(self, engine: Engine, means: Means, manner: Manner) -> None:
        super().__init__(means, manner)
        self._engine = engine
        self._own = False
        self._credential: Credential | None = None
        self._ends = 0.0

    async def run(self, target: Target) -> Probed:
        """Open and list the target, and ask what the manner asks for."""
        try:
            url = parse_url(target.identifier)
        except InvalidTarget as error:
            return self.result(target, error.absent())
        async with self._engine.visit(seconds=self.limits.total) as visit:
            self._own = await visit.is_private(url.origin)
            self._credential = self.manner.credentials.find(url, private=self._own)
            if self._credential:
                self.notes["credentials"] = "configured"
            async with nullcontext() if self._own else self.courtesy.visit(url.origin.host):
                self._ends = asyncio.get_running_loop().time() + self.limits.total
                content = await self._visit(target, visit)
        return self.result(target, content)

    async def _visit(self, target: Target, visit: Visit) -> Observed | Absent:
        opened = await self._open(target, visit)
        if isinstance(opened, Refused):
            await self._look_at_access(target, visit)
            return absence(opened.reply, opened.asked)
        content = await self.read(target, opened, "")
        other = await self._open_other_era(opened)
        await self._look_at_access(target, visit)
        await self.try_tools(opened, policy_for(self.manner.policy, ""))
        if self.manner.inquires:
            await self._inquire(opened, other, visit.requests)
        await opened.dialogue.channel.close()
        if other is not None:
            await other.dialogue.channel.close()
        return content

    async def _inquire(self, opened: Opened, other: Opened | None, made: int) -> None:
        """Ask everything that only a full probe asks, or what was chosen of it, after so many requests."""
        ends = self._ends - self.limits.total * _SPARED
        interview = Interview(
            self.transcript,
            self.questions_left(made + _ENDINGS),
            self.courtesy,
            ends=ends,
            pause=opened.dialogue.limits.retry_pause,
            hold_back=opened.dialogue.hold_back,
            chosen=self.manner.selection,
        )
        for era in (one for one in (opened, other) if one is not None):
            channel, link = era.dialogue.channel, era.dialogue.link(era.era)
            facts = Facts(
                era=era.era,
                capabilities=era.capabilities,
                dual=other is not None,
                paged=paged_method(self.lists),
                listen=self.manner.listen,
            )
            if isinstance(channel, SseChannel):
                await ask_over_stream(channel, interview, link, facts)
            if not isinstance(channel, StreamableHttp):
                continue
            questioning = Questioning(channel.post, interview, self.transcript, self.client_version)
            ask = questioning.ask_modern if era.era is Era.MODERN else questioning.ask_legacy
            await ask(channel, link, facts)
            channel.session = None if interview.is_unwelcome else channel.session

    async def _look_at_access(self, target: Target, visit: Visit) -> None:
        self.access = await look_at_access(
            visit,
            target,
            self.asked,
            courtesy=self.courtesy,
            gapless=self._own,
            client_version=self.client_version,
            credential=self._credential,
            thorough=self.manner.reads_metadata,
        )

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
        legacy = await initialize(dialogue, self.client_version)
        if isinstance(legacy, Opened) or not failed_in_passing(modern.reply) or failed_in_passing(legacy.reply):
            return legacy
        # It had to be woken, and what refuses the old era may still speak the new one. One that says so is just slow.
        speaks = legacy.reply.answer is not None and legacy.reply.answer.code == UNSUPPORTED_VERSION
        again = await discover(dialogue, retry=False, link=dialogue.link(Era.MODERN), patient=speaks)
        return again if speaks or isinstance(again, Opened) else legacy

    async def _open_sse(self, target: Target, visit: Visit) -> Opened | Refused:
        post = self._post(target, visit, TargetType.SSE)
        channel = SseChannel(post)
        self.budget.spend()
        since, link = len(self.transcript.exchanges), self.transcript.connect(_sse_link())
        reply = await channel.open()
        self.transcript.name(since, "sse-open", 0, link)
        dialogue = self.dialogue(channel, post)
        dialogue.note_door("sse-open", Era.LEGACY, reply)
        if not channel.is_open:
            await channel.close()
            return Refused(reply, "GET")
        return await initialize(dialogue, self.client_version, link=link)

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
            credential=self._credential,
        )

    async def _open_other_era(self, opened: Opened) -> Opened | None:
        """Ask a modern server whether it is dual-era, and open it in the legacy era too when it is."""
        self.notes["eras"] = [opened.era.value]
        channel = opened.dialogue.channel
        if opened.era is not Era.MODERN or not isinstance(channel, StreamableHttp):
            return None
        dialogue = self.dialogue(StreamableHttp(channel.post, self.client_version), channel.post)
        other = await initialize(dialogue, self.client_version)
        if isinstance(other, Refused):
            return None
        self.notes["eras"] = [opened.era.value, Era.LEGACY.value]
        return other


def _sse_link() -> Link:
    return Link(TargetType.SSE.value, Era.LEGACY.value, LEGACY_VERSION)


def _may_be_other_transport(reply: Reply) -> bool:
    """True when a GET was answered by something that may speak streamable HTTP under the same URL."""
    return reply.status in SSE_FALLBACK or (reply.status == 200 and reply.failure is not None)
