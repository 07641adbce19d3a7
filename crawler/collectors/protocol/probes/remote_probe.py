"""A probe of a URL: legacy, then modern, then HTTP+SSE, which is first when the registry declares `sse`.

`server/discover` is an unknown method for a legacy server, and released versions of SDKs refuse every client after
one. So it is asked only where `initialize` was refused or answered with the newest legacy version, which all dual-era
servers know (docs/decisions/0042).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import ClassVar, Final

from msgspec.structs import replace

from crawler.collectors.protocol.access.access_probe import collect_access
from crawler.collectors.protocol.listing.list_walker import find_paged_lists
from crawler.collectors.protocol.probes.probe import Probe, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.questions.http_questions import (
    LegacyQuestions,
    ModernQuestions,
    Questioning,
    SseQuestions,
)
from crawler.collectors.protocol.questions.inquiries import Risk, ServerFacts
from crawler.collectors.protocol.questions.interview import Interview, is_harm, make_fall, open_twice
from crawler.collectors.protocol.questions.known_falls import (
    continue_falls,
    has_falling_version,
    read_falls,
    read_server_version,
)
from crawler.collectors.protocol.questions.process_gateways import RESTRAINT, starts_processes
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.collectors.protocol.session.absence_reasons import explain_opening, explain_reply
from crawler.collectors.protocol.session.dialogue import Dialogue, QuestionBudget, is_transient_failure
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
from crawler.http.failures import InvalidTarget, TimedOut
from crawler.http.url import parse_url
from crawler.mcp.channel import LEGACY_VERSION, Era, initialize_params
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import TOO_MANY_REQUESTS, Reply, SessionLink, Transcript
from evidence.kinds.falls import Fall
from evidence.model import Absent, Observed, Reason, Record, Target, TargetType

_RESERVED_SHARE: Final = 0.1  # share of the server's time in which no inquiry begins, so that sessions can be ended
DISCOVER: Final = "modern/discover"
"""The one question of a core probe that a server may not know."""
_LEAVE_SECONDS: Final = 2.0  # seconds for the end of a session that only tested whether the server serves
_ENDINGS: Final = 2  # requests that end the sessions of both eras
_DECISIVE: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)


class RemoteProbe(Probe):
    """Probes one URL. `known_falls`: the record of kind `falls` of an earlier probe.

    `wants_both_eras`: a server that opens in the legacy era is tested for the modern one.
    """

    wants_both_eras: ClassVar[bool] = True

    def __init__(
        self,
        engine: HttpEngine,
        dependencies: ProbeDependencies,
        options: ProbeOptions,
        known_falls: Record | None = None,
    ) -> None:
        super().__init__(dependencies, options)
        self._engine = engine
        self._known_falls = known_falls
        self._checks = 0
        self._ends_in_time = True  # false once a DELETE was not answered in time: each one would cost as long
        self._fell_at_discover: list[Fall] = []
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
            left = self._deadline - asyncio.get_running_loop().time()
        return replace(self.result(target, content), seconds=self.limits.total - left)

    async def _probe(self, target: Target, session: HttpSession) -> Observed | Absent:
        opened = await self._open(target, session)
        if isinstance(opened, OpeningRefused):
            await self._collect_access(target, session)
            return explain_opening(opened.reply, opened.asked, self.transcript)
        first, *others = opened
        self.notes["eras"] = [each.era.value for each in opened]
        content = await self.read_lists(target, first, "")
        if self.options.inquires and starts_processes(opened, self.transcript):
            self.restraint = RESTRAINT
        await self._collect_access(target, session)
        await self.try_tools(first, choose_call_policy(self.options.policy, ""))
        interview: Interview | None = None
        if self.names is not None and not self._fell_at_discover:
            interview = await self._inquire(target, session, opened, self.names)
        self._record_falls(opened, interview)
        for each in (first, *others):
            await each.dialogue.channel.close()
        return content

    async def _inquire(
        self, target: Target, session: HttpSession, opened: Sequence[Opened], names: RandomNames
    ) -> Interview:
        """Ask the questions that only a full probe or a re-test asks: of both eras, in the order of their risk."""
        budget = self.make_question_budget(session.requests + _ENDINGS)
        interview = Interview(
            self.transcript,
            budget,
            self.limiter,
            ends=self._deadline - self.limits.total * _RESERVED_SHARE,
            pause=opened[0].dialogue.limits.retry_pause,
            hold_back=opened[0].dialogue.hold_back,
            names=names,
            selection=self.options.selection,
            open_fresh=partial(self._open_fresh, target, session, opened[-1], budget),
            recovery=self.limits.recovery_pause,
            spare=bool(self._find_known_falls(opened)) or has_falling_version(opened),
            restraint=self.restraint,
        )
        eras = [one for each in opened if (one := self._questioning(each, interview, dual=len(opened) > 1))]
        for risk in Risk:
            interview.begin_phase()
            for era in eras:
                await era.ask(risk)
        for era in eras:
            await era.end()
        if interview.is_rate_limited or interview.falls:
            for each in opened:
                if isinstance(each.dialogue.channel, StreamableHttp):
                    each.dialogue.channel.session = None
        return interview

    def _find_known_falls(self, opened: Sequence[Opened]) -> frozenset[str]:
        """The questions under which this version of the server fell in an earlier probe, or before in this one."""
        known = read_falls(self._known_falls)
        earlier = known.falls if known.server == read_server_version(opened) else ()
        return frozenset(fall.question for fall in (*earlier, *self._fell_at_discover))

    def _record_falls(self, opened: Sequence[Opened], interview: Interview | None) -> None:
        falls, survived = (interview.falls, interview.survived) if interview else ([], [])
        falls = [*self._fell_at_discover, *falls]
        self.fell = falls[-1].signs[-1] if falls else ""
        content = continue_falls(self._known_falls, read_server_version(opened), falls, survived)
        self.falls = content, {"checks": self._checks} if interview else {}

    def _questioning(self, opened: Opened, interview: Interview, *, dual: bool) -> Questioning | None:
        channel, link = opened.dialogue.channel, opened.dialogue.link(opened.era)
        post = channel.post if isinstance(channel, StreamableHttp | SseChannel) else None
        facts = ServerFacts(
            era=opened.era,
            capabilities=opened.capabilities,
            dual=dual,
            paged=find_paged_lists(self.lists),
            listen=self.options.listen,
            origin=f"{post.url.origin.scheme}://{post.url.origin.authority}" if post else "",
            local=post is not None and post.gapless,
        )
        if isinstance(channel, SseChannel):
            return SseQuestions(channel, interview, link=link, facts=facts)
        if not isinstance(channel, StreamableHttp):
            return None
        questions = ModernQuestions if opened.era is Era.MODERN else LegacyQuestions
        return questions(channel, interview, self.transcript, self.client_version, link=link, facts=facts)

    async def _open_fresh(self, target: Target, session: HttpSession, opened: Opened, budget: QuestionBudget) -> Reply:
        """Open the server in the era and over the transport of `opened` as a client that is new to it, and leave."""
        unrecorded, is_sse = Transcript(), isinstance(opened.dialogue.channel, SseChannel)
        post = self._post(target, session, TargetType.SSE if is_sse else TargetType.STREAMABLE_HTTP, unrecorded)
        try:
            return await (self._open_fresh_stream(post) if is_sse else self._open_fresh_session(post, opened))
        finally:
            self._checks += 1
            budget.charge_all(unrecorded.exchanges)

    async def _open_fresh_stream(self, post: JsonRpcPost) -> Reply:
        channel = SseChannel(post)
        try:
            reply = await channel.open()
            if not channel.is_open:
                return reply
            params = initialize_params(self.client_version)
            return await channel.send_request("initialize", params, Era.LEGACY, seconds=self.limits.discover)
        finally:
            await channel.close()

    async def _open_fresh_session(self, post: JsonRpcPost, opened: Opened) -> Reply:
        channel, seconds = StreamableHttp(post, self.client_version), self.limits.discover
        if opened.era is Era.MODERN:
            return await channel.send_request("server/discover", {}, Era.MODERN, seconds=seconds)
        params = initialize_params(self.client_version)
        reply = await channel.send_request("initialize", params, Era.LEGACY, seconds=seconds)
        channel.set_protocol_version(opened.version)
        if self._ends_in_time:
            await channel.close(seconds=_LEAVE_SECONDS)
            self._ends_in_time = not isinstance(post.transcript.exchanges[-1].failure, TimedOut)
        return reply

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

    async def _open(self, target: Target, session: HttpSession) -> Sequence[Opened] | OpeningRefused:
        """The eras in which the server opened, the one to be listed first."""
        if target.type is TargetType.SSE:
            sse = await self._open_sse(target, session)
            if isinstance(sse, Opened):
                return [sse]
            if not _may_be_other_transport(sse.reply):
                return sse
            other = await self._open_streamable(target, session)
            return sse if isinstance(other, OpeningRefused) else other
        opened = await self._open_streamable(target, session)
        if not isinstance(opened, OpeningRefused) or opened.reply.status not in SSE_FALLBACK:
            return opened
        sse = await self._open_sse(target, session)
        if isinstance(sse, Opened):
            return [sse]
        return sse if explain_reply(sse.reply, sse.asked).reason in _DECISIVE else opened

    async def _open_streamable(self, target: Target, session: HttpSession) -> Sequence[Opened] | OpeningRefused:
        """Open in the legacy era, and in the modern one unless the legacy version shows that it is not known."""
        legacy = await initialize(self._streamable_dialogue(target, session), self.client_version)
        if isinstance(legacy, Opened) and (legacy.version != LEGACY_VERSION or not self.wants_both_eras):
            return [legacy]
        if isinstance(legacy, OpeningRefused) and _is_final(legacy.reply):
            return legacy
        if isinstance(legacy, Opened):
            return await self._open_modern_beside(target, session, legacy)
        # A version error is the answer of a modern server, which may be slow and busy as any other.
        speaks_mcp = legacy.reply.answer is not None and legacy.reply.answer.code == UNSUPPORTED_VERSION
        dialogue = self._streamable_dialogue(target, session)
        modern = await discover(dialogue, retry=True, patient=speaks_mcp)
        if isinstance(modern, OpeningRefused) and is_transient_failure(modern.reply):
            modern = await discover(dialogue, retry=False, link=dialogue.link(Era.MODERN), patient=speaks_mcp)
        if isinstance(modern, Opened):
            return [modern]
        return modern if speaks_mcp else legacy

    async def _open_modern_beside(self, target: Target, session: HttpSession, legacy: Opened) -> Sequence[Opened]:
        """Open a server of the legacy era in the modern one too, unless it is known to fall at that or falls now."""
        if DISCOVER in self._find_known_falls([legacy]):
            return [legacy]
        mark = self.transcript.mark()
        modern = await discover(self._streamable_dialogue(target, session), retry=False)
        if isinstance(modern, Opened):
            return [modern, legacy]
        if isinstance(legacy.dialogue.channel, StreamableHttp):
            await legacy.dialogue.channel.end_stray_session(modern.reply)
        if is_harm(modern.reply):
            await self._check_after_discover(target, session, legacy, modern.reply, mark)
        return [legacy]

    async def _check_after_discover(
        self, target: Target, session: HttpSession, legacy: Opened, reply: Reply, mark: tuple[int, int, int]
    ) -> None:
        """Note a fall when a server that had opened serves no fresh client after `server/discover`."""
        open_fresh = partial(self._open_fresh, target, session, legacy, self.budget)
        first, second = await open_twice(open_fresh, self.limiter, self.limits.recovery_pause)
        if second is not None and is_harm(second):
            self._fell_at_discover.append(make_fall(DISCOVER, reply, first, second))
            self.transcript.rewind(mark)
            self.dialogues.pop()

    def _streamable_dialogue(self, target: Target, session: HttpSession) -> Dialogue:
        post = self._post(target, session, TargetType.STREAMABLE_HTTP, self.transcript)
        return self.dialogue(StreamableHttp(post, self.client_version), post)

    async def _open_sse(self, target: Target, session: HttpSession) -> Opened | OpeningRefused:
        post = self._post(target, session, TargetType.SSE, self.transcript)
        channel = SseChannel(post)
        self.budget.spend()
        since, link = len(self.transcript.exchanges), self.transcript.connect(_sse_link())
        reply = await channel.open()
        self.budget.charge(self.transcript.exchanges[since:-1])
        self.transcript.name(since, "sse-open", 0, link)
        dialogue = self.dialogue(channel, post)
        dialogue.note_access_reply("sse-open", Era.LEGACY, reply)
        if not channel.is_open:
            await channel.close()
            return OpeningRefused(reply, "GET")
        return await initialize(dialogue, self.client_version, link=link)

    def _post(self, target: Target, session: HttpSession, transport: TargetType, transcript: Transcript) -> JsonRpcPost:
        url = parse_url(target.identifier)
        return JsonRpcPost(
            session,
            url,
            self.limiter,
            transcript,
            headers=target.headers,
            transport=transport,
            gapless=self._own,
            credential=self._credential,
        )


def _sse_link() -> SessionLink:
    return SessionLink(TargetType.SSE.value, Era.LEGACY.value, LEGACY_VERSION)


def _may_be_other_transport(reply: Reply) -> bool:
    """True when a GET was answered by something that may speak streamable HTTP at the same URL."""
    return reply.status in SSE_FALLBACK or (reply.status == 200 and reply.failure is not None)


def _is_final(reply: Reply) -> bool:
    """True when another opening is pointless: the host was not reached, or it asks for fewer requests."""
    return reply.status == TOO_MANY_REQUESTS or (reply.failure is not None and not reply.failure.connected)
