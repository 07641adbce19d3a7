"""A probe of a URL: modern, then legacy, then HTTP+SSE; in the opposite order when the registry declares `sse`."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Final

from crawler.collectors.protocol.access.access_probe import collect_access
from crawler.collectors.protocol.listing.list_walker import find_paged_method
from crawler.collectors.protocol.probes.probe import Probe, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.questions.http_questions import HttpQuestions, ask_over_sse
from crawler.collectors.protocol.questions.inquiries import ServerFacts
from crawler.collectors.protocol.questions.interview import Interview
from crawler.collectors.protocol.session.absence_reasons import explain_reply
from crawler.collectors.protocol.session.dialogue import is_transient_failure
from crawler.collectors.protocol.session.handshake import (
    SSE_FALLBACK,
    UNSUPPORTED_VERSION,
    Opened,
    OpeningRefused,
    discover,
    initialize,
)
from crawler.collectors.protocol.trials.call_policy import choose_call_policy
from crawler.http.credentials import Credential
from crawler.http.engine import HttpEngine, HttpSession
from crawler.http.failures import InvalidTarget
from crawler.http.url import parse_url
from crawler.mcp.channel import LEGACY_VERSION, Era
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import Reply, SessionLink
from evidence.model import Absent, Observed, Reason, Target, TargetType

_RESERVED_SHARE: Final = 0.1  # share of the server's time in which no inquiry begins, so that sessions can be ended
_ENDINGS: Final = 2  # requests that end the sessions of both eras
_DECISIVE: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)


class RemoteProbe(Probe):
    """Probes one URL."""

    def __init__(self, engine: HttpEngine, dependencies: ProbeDependencies, options: ProbeOptions) -> None:
        super().__init__(dependencies, options)
        self._engine = engine
        self._own = False
        self._credential: Credential | None = None
        self._deadline = 0.0

    async def run(self, target: Target) -> ProbeResult:
        """Open and list the target, and ask what the options select."""
        try:
            url = parse_url(target.identifier)
        except InvalidTarget as error:
            return self.result(target, error.absent())
        async with self._engine.open_session(seconds=self.limits.total) as session:
            self._own = await session.is_private(url.origin)
            self._credential = self.options.credentials.find_credential(url, private=self._own)
            if self._credential:
                self.notes["credentials"] = "configured"
            async with nullcontext() if self._own else self.limiter.reserve_host(url.origin.host):
                self._deadline = asyncio.get_running_loop().time() + self.limits.total
                content = await self._probe(target, session)
        return self.result(target, content)

    async def _probe(self, target: Target, session: HttpSession) -> Observed | Absent:
        opened = await self._open(target, session)
        if isinstance(opened, OpeningRefused):
            await self._collect_access(target, session)
            return explain_reply(opened.reply, opened.asked)
        content = await self.read_lists(target, opened, "")
        other = await self._open_other_era(opened)
        await self._collect_access(target, session)
        await self.try_tools(opened, choose_call_policy(self.options.policy, ""))
        if self.options.inquires:
            await self._inquire(opened, other, session.requests)
        await opened.dialogue.channel.close()
        if other is not None:
            await other.dialogue.channel.close()
        return content

    async def _inquire(self, opened: Opened, other: Opened | None, requests: int) -> None:
        """Ask the questions that only a full probe or a re-test asks, after so many `requests`."""
        ends = self._deadline - self.limits.total * _RESERVED_SHARE
        interview = Interview(
            self.transcript,
            self.make_question_budget(requests + _ENDINGS),
            self.limiter,
            ends=ends,
            pause=opened.dialogue.limits.retry_pause,
            hold_back=opened.dialogue.hold_back,
            selection=self.options.selection,
        )
        for era in (one for one in (opened, other) if one is not None):
            channel, link = era.dialogue.channel, era.dialogue.link(era.era)
            facts = ServerFacts(
                era=era.era,
                capabilities=era.capabilities,
                dual=other is not None,
                paged=find_paged_method(self.lists),
                listen=self.options.listen,
            )
            if isinstance(channel, SseChannel):
                await ask_over_sse(channel, interview, link, facts)
            if not isinstance(channel, StreamableHttp):
                continue
            questioning = HttpQuestions(channel.post, interview, self.transcript, self.client_version)
            ask = questioning.ask_modern if era.era is Era.MODERN else questioning.ask_legacy
            await ask(channel, link, facts)
            channel.session = None if interview.is_rate_limited else channel.session

    async def _collect_access(self, target: Target, session: HttpSession) -> None:
        self.access = await collect_access(
            session,
            target,
            self.access_requests,
            limiter=self.limiter,
            gapless=self._own,
            client_version=self.client_version,
            credential=self._credential,
            thorough=self.options.is_metadata_read,
        )

    async def _open(self, target: Target, session: HttpSession) -> Opened | OpeningRefused:
        if target.type is TargetType.SSE:
            opened = await self._open_sse(target, session)
            if isinstance(opened, Opened) or not _may_be_other_transport(opened.reply):
                return opened
            other = await self._open_streamable(target, session)
            return other if isinstance(other, Opened) else opened
        opened = await self._open_streamable(target, session)
        if isinstance(opened, Opened) or opened.reply.status not in SSE_FALLBACK:
            return opened
        other = await self._open_sse(target, session)
        is_decisive = isinstance(other, OpeningRefused) and explain_reply(other.reply, other.asked).reason in _DECISIVE
        return other if isinstance(other, Opened) or is_decisive else opened

    async def _open_streamable(self, target: Target, session: HttpSession) -> Opened | OpeningRefused:
        post = self._post(target, session, TargetType.STREAMABLE_HTTP)
        dialogue = self.dialogue(StreamableHttp(post, self.client_version), post)
        modern = await discover(dialogue, retry=True)
        if isinstance(modern, Opened) or (modern.reply.failure and not modern.reply.failure.connected):
            return modern
        legacy = await initialize(dialogue, self.client_version)
        if isinstance(legacy, Opened) or not is_transient_failure(modern.reply) or is_transient_failure(legacy.reply):
            return legacy
        # The first request woke a sleeping server: one that refuses the legacy era may still speak the modern one. One
        # that answers with a version error speaks MCP and is only slow.
        speaks_mcp = legacy.reply.answer is not None and legacy.reply.answer.code == UNSUPPORTED_VERSION
        again = await discover(dialogue, retry=False, link=dialogue.link(Era.MODERN), patient=speaks_mcp)
        return again if speaks_mcp or isinstance(again, Opened) else legacy

    async def _open_sse(self, target: Target, session: HttpSession) -> Opened | OpeningRefused:
        post = self._post(target, session, TargetType.SSE)
        channel = SseChannel(post)
        self.budget.spend()
        since, link = len(self.transcript.exchanges), self.transcript.connect(_sse_link())
        reply = await channel.open()
        self.transcript.name(since, "sse-open", 0, link)
        dialogue = self.dialogue(channel, post)
        dialogue.note_access_reply("sse-open", Era.LEGACY, reply)
        if not channel.is_open:
            await channel.close()
            return OpeningRefused(reply, "GET")
        return await initialize(dialogue, self.client_version, link=link)

    def _post(self, target: Target, session: HttpSession, transport: TargetType) -> JsonRpcPost:
        url = parse_url(target.identifier)
        return JsonRpcPost(
            session,
            url,
            self.limiter,
            self.transcript,
            headers=target.headers,
            transport=transport,
            gapless=self._own,
            credential=self._credential,
        )

    async def _open_other_era(self, opened: Opened) -> Opened | None:
        """Test whether a modern server is dual-era, and open it in the legacy era too when it is."""
        self.notes["eras"] = [opened.era.value]
        channel = opened.dialogue.channel
        if opened.era is not Era.MODERN or not isinstance(channel, StreamableHttp):
            return None
        dialogue = self.dialogue(StreamableHttp(channel.post, self.client_version), channel.post)
        other = await initialize(dialogue, self.client_version)
        if isinstance(other, OpeningRefused):
            return None
        self.notes["eras"] = [opened.era.value, Era.LEGACY.value]
        return other


def _sse_link() -> SessionLink:
    return SessionLink(TargetType.SSE.value, Era.LEGACY.value, LEGACY_VERSION)


def _may_be_other_transport(reply: Reply) -> bool:
    """True when a GET was answered by something that may speak streamable HTTP at the same URL."""
    return reply.status in SSE_FALLBACK or (reply.status == 200 and reply.failure is not None)
