"""A probe of a URL: legacy, then modern, then HTTP+SSE, which is first when the registry declares `sse`.

`server/discover` is an unknown method for a legacy server, and released versions of SDKs refuse every client after
one. So it is asked only where `initialize` was refused or answered with the newest legacy version, which all dual-era
servers know (docs/decisions/0042).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import ClassVar, Final

from msgspec.structs import replace

from crawler.collectors.protocol.access.access_probe import collect_access
from crawler.collectors.protocol.listing.list_walker import find_paged_lists
from crawler.collectors.protocol.probes.fresh_client import FreshClient
from crawler.collectors.protocol.probes.probe import SPARED, Probe, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.questions.fall_watch import (
    CALL,
    CALL_MISTAKEN,
    END,
    METADATA,
    READ,
    FallWatch,
    find_spared_risk,
    is_harm,
)
from crawler.collectors.protocol.questions.http_questions import choose_questions
from crawler.collectors.protocol.questions.inquiries import Risk
from crawler.collectors.protocol.questions.interview import Interview
from crawler.collectors.protocol.questions.known_falls import (
    DISCOVERED,
    continue_falls,
    has_falling_version,
    may_be_asked_to_discover,
    read_falls,
    read_server_version,
)
from crawler.collectors.protocol.questions.process_gateways import RESTRAINT, starts_processes
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.collectors.protocol.session.absence_reasons import explain_opening, explain_reply
from crawler.collectors.protocol.session.dialogue import Dialogue, is_transient_failure
from crawler.collectors.protocol.session.handshake import (
    SSE_FALLBACK,
    UNSUPPORTED_VERSION,
    Opened,
    OpeningRefused,
    discover,
    initialize,
)
from crawler.collectors.protocol.trials import mistake_reuse
from crawler.collectors.protocol.trials.call_policy import choose_call_policy
from crawler.http.credentials import Credential
from crawler.http.engine import HttpEngine, HttpSession
from crawler.http.failures import InvalidTarget
from crawler.http.url import parse_url
from crawler.mcp.channel import LEGACY_VERSION, Era
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import TOO_MANY_REQUESTS, Reply, SessionLink, Transcript
from evidence.model import Absent, Observed, Reason, Record, Target, TargetType

_RESERVED_SHARE: Final = 0.1  # share of the server's time in which no inquiry begins, so that sessions can be ended
_READING: Final[Mapping[str, str]] = {"tools/call": CALL, "resources/read": READ}
"""Methods with which a probe reads beyond the lists, and their steps."""
_ENDINGS: Final = 2  # requests that end the sessions of both eras
_DECISIVE: Final = frozenset(
    {Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED, Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN}
)


class RemoteProbe(Probe):
    """Probes one URL. `known_falls`: the record of kind `falls` of an earlier probe.

    `wants_both_eras`: a server that opens in the legacy era is tested for the modern one. `is_spared`: a version that
    is known to fall is not asked again. `known_trials`: the record of kind `trials` of an earlier probe.
    """

    wants_both_eras: ClassVar[bool] = True
    is_spared: ClassVar[bool] = True
    mistakes_at_once: ClassVar[bool] = False

    def __init__(
        self,
        engine: HttpEngine,
        dependencies: ProbeDependencies,
        options: ProbeOptions,
        known_falls: Record | None = None,
        known_trials: Record | None = None,
    ) -> None:
        super().__init__(dependencies, options)
        self._engine = engine
        self.known_falls = known_falls
        self._known_trials = known_trials
        self._watch = FallWatch(self.limiter, self.limits.recovery_pause)
        self._mistaken = False
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
                fresh = FreshClient(
                    partial(self._post, target, session),
                    self.client_version,
                    self._watch,
                    seconds=self.limits.discover,
                )
                content = await self._probe(target, session, fresh)
            left = self._deadline - asyncio.get_running_loop().time()
        return replace(self.result(target, content), seconds=self.limits.total - left)

    async def _probe(self, target: Target, session: HttpSession, fresh: FreshClient) -> Observed | Absent:
        opened = await self._open(target, session, fresh)
        if isinstance(opened, OpeningRefused):
            await self._collect_access(target, session)
            return explain_opening(opened.reply, opened.asked, self.transcript)
        first, *others = opened
        self.notes["eras"] = [each.era.value for each in opened]
        content = await self._read_lists(target, first, fresh)
        if self.options.inquires and starts_processes(opened, self.transcript):
            self.restraint = RESTRAINT
        self._spare_steps(opened, fresh)
        await self._collect_access(target, session)
        self._note_metadata(first.era)
        if not self._watch.falls:
            await self._read_beyond_lists(first, opened[-1], fresh)
        if self.names is not None and not self._watch.falls:
            await self._inquire(session, opened, self.names, fresh)
        self._complete_trials(opened)
        self._record_falls(opened, fresh)
        for each in (first, *others):
            if isinstance(each.dialogue.channel, StreamableHttp) and (self._watch.falls or END in self.spared):
                each.dialogue.channel.session = None
            await each.dialogue.channel.close()
        return content

    async def _read_lists(self, target: Target, first: Opened, fresh: FreshClient) -> Observed | Absent:
        """Read the lists; a server that breaks at the first one may have fallen at what was asked before."""
        since = len(self.transcript.exchanges)
        content = await self.read_lists(target, first, "")
        if self._watch.has_suspects and any(
            is_harm(Reply(one)) for one in self.transcript.exchanges[since : since + 1]
        ):
            await self._check_server(first, fresh)
        return content

    def _note_metadata(self, era: Era) -> None:
        if self.access and self.access[1].get("metadata_requests"):
            self._watch.note(f"{era.value}/{METADATA}")

    async def _read_beyond_lists(self, first: Opened, last: Opened, fresh: FreshClient) -> None:
        """Call tools and read resources; a server that does not answer that is tested at once."""
        mark, since = self.transcript.mark(), len(self.transcript.exchanges)
        await self.try_tools(first, choose_call_policy(self.options.policy, ""))
        asked = [one for one in self.transcript.exchanges[since:] if one.method in _READING]
        for one in asked:
            self._watch.note(f"{first.era.value}/{_READING[one.method]}", Reply(one))
        if any(is_harm(Reply(one)) for one in asked):
            await self._check_server(last, fresh)
            if self._watch.falls:
                self.transcript.rewind(mark)
                self.trials = self.handouts = Absent(Reason.NOT_COLLECTED, SPARED), {}
                self.tool_trials = None

    async def _check_server(self, opened: Opened, fresh: FreshClient) -> None:
        """Test with a fresh client, outside the inquiries, whether the server still serves."""
        loop = asyncio.get_running_loop()
        openings = partial(fresh.open, opened, self.budget), partial(self._ask_own, opened, fresh)
        await self._watch.check(*openings, is_over=lambda: loop.time() >= self._deadline)

    async def _ask_own(self, opened: Opened, fresh: FreshClient) -> Reply | None:
        """A ping on the session that is open; None in the modern era, which has no sessions."""
        if opened.era is Era.MODERN:
            return None
        mark = self.transcript.mark()
        reply = await opened.dialogue.channel.send_request("ping", {}, Era.LEGACY, seconds=fresh.seconds_for(opened))
        self.transcript.rewind(mark)
        return reply

    async def _inquire(
        self, session: HttpSession, opened: Sequence[Opened], names: RandomNames, fresh: FreshClient
    ) -> None:
        """Ask the questions that only a full probe or a re-test asks: of both eras, in the order of their risk."""
        spare = self._find_spared_risk(opened)
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
            open_fresh=partial(fresh.open, opened[-1], budget),
            ask_own=partial(self._ask_own, opened[-1], fresh),
            watch=self._watch,
            spare=spare,
            restraint=self.restraint,
        )
        listen, paged = self.options.listen, find_paged_lists(self.lists)
        eras = choose_questions(opened, interview, self.client_version, listen=listen, paged=paged)
        for risk in Risk:
            if risk is not Risk.COMMON:
                await interview.begin_phase(risk)
            if risk is Risk.UNUSUAL:
                await self._make_mistakes(interview, opened[0].era, spare)
            for era in eras:
                await era.ask(risk)
        if END not in self.spared:
            for era in eras:
                await era.end()
        await interview.check_last()
        if interview.is_rate_limited:
            for each in opened:
                if isinstance(each.dialogue.channel, StreamableHttp):
                    each.dialogue.channel.session = None

    async def _make_mistakes(self, interview: Interview, era: Era, spare: Risk | None) -> None:
        """Call a tool with wrong arguments, which a full probe and a re-test of such a call do."""
        retest = self.options.retest
        wanted = (retest.mistakes if retest else self.options.is_full) and (spare is None or spare > Risk.UNUSUAL)
        if not wanted or interview.has_stopped or self.mistakes_at_once:
            return
        since = len(self.transcript.exchanges)
        self._mistaken = await self.make_mistakes()
        await interview.note(f"{era.value}/{CALL_MISTAKEN}", self.transcript.exchanges[since:])

    def _find_known_falls(self, opened: Sequence[Opened]) -> frozenset[str]:
        """The questions under which this version of the server fell in an earlier probe."""
        known = read_falls(self.known_falls)
        is_same = known.server == read_server_version(opened)
        return frozenset(fall.question for fall in known.falls) if is_same else frozenset()

    def _spare_steps(self, opened: Sequence[Opened], fresh: FreshClient) -> None:
        known = self._find_known_falls(opened) if self.is_spared else ()
        self.spared = frozenset(question.partition("/")[2] for question in known)
        fresh.ends_sessions = fresh.ends_sessions and END not in self.spared

    def _find_spared_risk(self, opened: Sequence[Opened]) -> Risk | None:
        if not self.is_spared:
            return None
        known = find_spared_risk(self._find_known_falls(opened))
        return Risk.RISKY if known is None and has_falling_version(opened) else known

    def _complete_trials(self, opened: Sequence[Opened]) -> None:
        """Record the answers to calls with mistakes, or those of the last full probe to the same calls.

        They are left out when the server fell at what is asked with them, which they would tell.
        """
        fallen = find_spared_risk(fall.question for fall in self._watch.falls)
        if self.tool_trials is None or self.mistakes_at_once or (fallen is not None and fallen <= Risk.UNUSUAL):
            return
        note = mistake_reuse.note_mistakes(read_server_version(opened), self.clock()) if self._mistaken else {}
        if not note and fallen is None:
            note = mistake_reuse.reuse_mistakes(
                self._known_trials, self.tool_trials, read_server_version(opened), self.clock()
            )
        content, observation = self.tool_trials.record_content()
        self.trials = content, {**observation, **note}

    def _record_falls(self, opened: Sequence[Opened], fresh: FreshClient) -> None:
        falls = self._watch.falls
        self.fell = falls[-1].signs[-1] if falls else ""
        content = continue_falls(self.known_falls, read_server_version(opened), falls, self._watch.survived)
        self.falls = content, {"checks": fresh.opened} if fresh.opened else {}

    async def _collect_access(self, target: Target, session: HttpSession) -> None:
        self.access = await collect_access(
            session,
            target,
            self.access_requests,
            limiter=self.limiter,
            gapless=self._own,
            client_version=self.client_version,
            credential=self._credential,
            thorough=self.options.is_metadata_read and METADATA not in self.spared,
        )

    async def _open(
        self, target: Target, session: HttpSession, fresh: FreshClient
    ) -> Sequence[Opened] | OpeningRefused:
        """The eras in which the server opened, the one to be listed first."""
        if target.type is TargetType.SSE:
            sse = await self._open_sse(target, session)
            if isinstance(sse, Opened):
                return [sse]
            if not _may_be_other_transport(sse.reply):
                return sse
            other = await self._open_streamable(target, session, fresh)
            return sse if isinstance(other, OpeningRefused) else other
        opened = await self._open_streamable(target, session, fresh)
        if not isinstance(opened, OpeningRefused) or opened.reply.status not in SSE_FALLBACK:
            return opened
        sse = await self._open_sse(target, session)
        if isinstance(sse, Opened):
            return [sse]
        return sse if explain_reply(sse.reply, sse.asked).reason in _DECISIVE else opened

    async def _open_streamable(
        self, target: Target, session: HttpSession, fresh: FreshClient
    ) -> Sequence[Opened] | OpeningRefused:
        """Open in the legacy era, and in the modern one unless the legacy version shows that it is not known."""
        legacy = await initialize(self._streamable_dialogue(target, session), self.client_version)
        if isinstance(legacy, Opened) and (legacy.version != LEGACY_VERSION or not self.wants_both_eras):
            return [legacy]
        if isinstance(legacy, OpeningRefused) and _is_final(legacy.reply):
            return legacy
        if isinstance(legacy, Opened):
            return await self._open_modern_beside(self._streamable_dialogue(target, session), legacy, fresh)
        if not may_be_asked_to_discover(self.known_falls, legacy.reply):
            return legacy
        # A version error is the answer of a modern server, which may be slow and busy as any other.
        speaks_mcp = legacy.reply.answer is not None and legacy.reply.answer.code == UNSUPPORTED_VERSION
        dialogue = self._streamable_dialogue(target, session)
        modern = await discover(dialogue, retry=True, patient=speaks_mcp)
        if isinstance(modern, OpeningRefused) and is_transient_failure(modern.reply):
            modern = await discover(dialogue, retry=False, link=dialogue.link(Era.MODERN), patient=speaks_mcp)
        if isinstance(modern, Opened):
            return [modern]
        return modern if speaks_mcp else legacy

    async def _open_modern_beside(self, dialogue: Dialogue, legacy: Opened, fresh: FreshClient) -> Sequence[Opened]:
        """Open a server of the legacy era in the modern one too, unless it is known to fall at that or falls now."""
        self._spare_steps([legacy], fresh)
        if DISCOVERED in self._find_known_falls([legacy]):
            self.dialogues.remove(dialogue)
            return [legacy]
        mark = self.transcript.mark()
        modern = await discover(dialogue, retry=False)
        if isinstance(modern, Opened):
            return [modern, legacy]
        if isinstance(legacy.dialogue.channel, StreamableHttp):
            await legacy.dialogue.channel.end_stray_session(modern.reply)
        self._watch.note(DISCOVERED, modern.reply)
        if is_harm(modern.reply):
            await self._check_server(legacy, fresh)
        if self._watch.falls:
            self.transcript.rewind(mark)
            self.dialogues.remove(dialogue)
        return [legacy]

    def _streamable_dialogue(self, target: Target, session: HttpSession) -> Dialogue:
        post = self._post(target, session, TargetType.STREAMABLE_HTTP, self.transcript)
        return self.dialogue(StreamableHttp(post, self.client_version), post)

    async def _open_sse(self, target: Target, session: HttpSession) -> Opened | OpeningRefused:
        post = self._post(target, session, TargetType.SSE, self.transcript)
        channel = SseChannel(post)
        self.budget.spend()
        since = len(self.transcript.exchanges)
        link = self.transcript.connect(SessionLink(TargetType.SSE.value, Era.LEGACY.value, LEGACY_VERSION))
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


def _may_be_other_transport(reply: Reply) -> bool:
    """True when a GET was answered by something that may speak streamable HTTP at the same URL."""
    return reply.status in SSE_FALLBACK or (reply.status == 200 and reply.failure is not None)


def _is_final(reply: Reply) -> bool:
    """True when another opening is pointless: the host was not reached, or it asks for fewer requests."""
    return reply.status == TOO_MANY_REQUESTS or (reply.failure is not None and not reply.failure.connected)
