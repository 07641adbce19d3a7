"""What the probes of all transports share: the budget, the transcript, and the result that they put together."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from msgspec import Struct, field, structs

from crawler.collectors.protocol.access.access_challenge import AccessRequest
from crawler.collectors.protocol.handouts import resource_reader
from crawler.collectors.protocol.handouts.handouts_body import handouts_body
from crawler.collectors.protocol.listing.list_walker import ListResult, ListWalker
from crawler.collectors.protocol.listing.listing_body import listing_body
from crawler.collectors.protocol.questions import exchanges_body
from crawler.collectors.protocol.questions.fall_watch import CALL, READ
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.session.dialogue import Dialogue, ProbeLimits, QuestionBudget
from crawler.collectors.protocol.session.handshake import Opened, initialize
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.http.credentials import Credentials
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.channel import Channel, Era
from crawler.mcp.mirrored_headers import find_mirrored_parameters
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import Reply, Transcript
from evidence.canonical import Json
from evidence.model import Absent, Observed, Reason, Target

if TYPE_CHECKING:
    from crawler.collectors.protocol.trials.tool_trials import Ask, ToolTrials

SPARED: Final = "fewer questions are asked of this version"
"""Why a version that is known to fall is not asked: the reason is public, and does not name the question."""
_OWN_PAUSE: Final = 0.1  # seconds before a second try at the operator's own server
_OBSERVED_HEADERS: Final = ("server", "date", "via", "x-powered-by")

Finding: TypeAlias = tuple[Observed | Absent, Mapping[str, Json]]
"""The content of a record and its volatile observation."""


class ProbeOptions(Struct, frozen=True, kw_only=True):
    """How to probe one target: how deep, which tools may be called, and with which credentials.

    `depth` is the depth of the exchanges, `core` or `full`. `opted_out`: no tool of this server may be called.
    `listen`: a full probe also opens a subscription for some seconds. `retest`: what a core probe asks in addition,
    in a re-test.
    """

    depth: str = exchanges_body.CORE
    policy: CallPolicy = CallPolicy.ANNOTATED
    opted_out: bool = False
    listen: bool = False
    retest: QuestionSelection | None = None
    credentials: Credentials = field(default_factory=Credentials)

    @property
    def is_full(self) -> bool:
        return self.depth == exchanges_body.FULL

    @property
    def inquires(self) -> bool:
        return self.is_full or bool(self.retest and (self.retest.steps or self.retest.mistakes))

    def asks_questions_in(self, era: Era) -> bool:
        return self.is_full or any(era.value == one for one, _ in (self.retest.steps if self.retest else ()))

    @property
    def is_metadata_read(self) -> bool:
        """True when an open server is also asked for the metadata that a locked server must have."""
        return self.is_full or bool(self.retest and self.retest.metadata)

    @property
    def may_reuse_trials(self) -> bool:
        """True when the trials of an unchanged tool may be reused."""
        return not self.is_full and self.retest is None

    @property
    def selection(self) -> QuestionSelection | None:
        """The inquiries to ask; None: all of them."""
        return None if self.is_full else self.retest or QuestionSelection()


class ProbeResult(Struct, frozen=True, kw_only=True):
    """The result of one probe, by kind. `fell`: the reply to the last fresh client when the server fell.

    `cold_ms` and `warm_ms` are the latencies of the first and of a later question. `attempt` is the outcome of
    connecting, where the reason in the listing states something else. `seconds`: how long a probe of a URL took,
    without the wait for its turn.
    """

    listing: Observed | Absent
    observation: Mapping[str, Json] = field(default_factory=dict)
    exchanges: Finding | None = None
    access: Finding | None = None
    trials: Finding | None = None
    handouts: Finding | None = None
    attempt: Observed | Absent | None = None
    behaviour: Observed | Absent | None = None
    falls: Finding | None = None
    fell: str = ""
    cold_ms: float | None = None
    warm_ms: float | None = None
    seconds: float = 0.0

    @property
    def attempted(self) -> Observed | Absent:
        """The outcome of connecting, for the availability sample: a server that fell did not serve the last clients."""
        if self.fell:
            return Absent(Reason.UNREACHABLE, self.fell)
        reason = self.listing.reason if isinstance(self.listing, Absent) else None
        return self.attempt if self.attempt and reason in {Reason.START_FAILED, Reason.TIMEOUT} else self.listing


class ProbeDependencies(Struct, frozen=True, kw_only=True):
    """What all probes of one collector share. `client_version` is what the client sends about itself."""

    limiter: HostRateLimiter
    clock: Callable[[], datetime]
    limits: ProbeLimits
    client_version: str
    on_exchange: Callable[[], None] | None = None


class Probe:
    """The parts that the probes of all transports share: limits, budget and transcript.

    `mistakes_at_once`: tools are also called with wrong arguments as soon as they answered, at any depth.
    """

    mistakes_at_once: ClassVar[bool] = True

    def __init__(self, dependencies: ProbeDependencies, options: ProbeOptions) -> None:
        self.limiter = dependencies.limiter
        self.clock = dependencies.clock
        self.limits = dependencies.limits
        self.client_version = dependencies.client_version
        self.options = options
        self.budget = QuestionBudget(self.limits.full_requests if options.is_full else self.limits.requests)
        self.transcript = Transcript(on_exchange=dependencies.on_exchange)
        self.notes: dict[str, Json] = {}
        self.lists: Mapping[str, ListResult] = {}
        self.read_meta_keys: Sequence[Mapping[str, Json]] = ()
        self.dialogues: list[Dialogue] = []
        self.access: Finding | None = None
        self.trials: Finding | None = None
        self.tool_trials: ToolTrials | None = None
        self._ask_tool: Ask | None = None
        self.handouts: Finding | None = None
        self.attempt: Observed | Absent | None = None
        self.names = RandomNames() if options.inquires else None
        self.falls: Finding | None = None
        self.fell = ""
        self.spared: frozenset[str] = frozenset()  # steps at which this version is known to fall
        self.restraint = ""  # why only the questions of a core probe are asked

    def dialogue(self, channel: Channel, post: JsonRpcPost | None = None) -> Dialogue:
        """A dialogue on this probe's budget. A process has no host, so it gets no second try."""
        limits = self.limits
        if post and post.gapless:
            limits = structs.replace(limits, retry_pause=min(limits.retry_pause, _OWN_PAUSE))
        dialogue = Dialogue(
            channel,
            host=post.url.origin.host if post else "",
            limiter=self.limiter,
            clock=self.clock,
            limits=limits,
            budget=self.budget,
            transcript=self.transcript,
            left=(lambda: post.http_session.seconds_left) if post else lambda: math.inf,
        )
        self.dialogues.append(dialogue)
        return dialogue

    def make_question_budget(self, made: int) -> QuestionBudget:
        """The budget that is left after so many requests: a re-test is bounded as a whole."""
        return self.budget if self.options.is_full else QuestionBudget(max(0, self.limits.retest_requests - made))

    @property
    def access_requests(self) -> Sequence[AccessRequest]:
        return [request for dialogue in self.dialogues for request in dialogue.access_replies.values()]

    async def read_lists(
        self, target: Target, opened: Opened, sandbox: str, installed: Mapping[str, Json] | None = None
    ) -> Observed | Absent:
        """Read the lists of an opened server into a listing body, which stays within what `Listing` can parse."""
        if len(opened.answer.span) > self.limits.opening_bytes:
            return Absent(Reason.TOO_LARGE, f"an opening of more than {self.limits.opening_bytes} bytes")

        async def reopen() -> bool:
            self.notes["session_unstable"] = True
            return isinstance(await initialize(opened.dialogue, self.client_version), Opened)

        session = opened.dialogue.channel.session is not None
        self.lists = await ListWalker(opened, reopen).walk_all()
        self.notes["session"] = session
        if opened.dialogue.oddities:
            self.notes["oddities"] = sorted(opened.dialogue.oddities)
        return Observed(listing_body(target, opened, sandbox, self.lists, installed))

    async def try_tools(self, opened: Opened, policy: CallPolicy) -> None:
        """Call the listed tools that only read, as far as the policy allows, unless the server asked for fewer
        requests.

        The other tools that may be called are left in `tool_trials`. A full probe also keeps results and reads some
        resources.
        """
        handed_out: list[dict[str, Json]] = []
        await self._try_tools(opened, policy, handed_out if self.options.is_full else None)
        if self.options.opted_out:
            self.handouts = (
                Absent(
                    Reason.OPTED_OUT, "the tools of this server may not be called, and its resources may not be read"
                ),
                {},
            )
        elif self.options.is_full:
            self.handouts = await self._read_resources(opened, handed_out)

    async def _try_tools(self, opened: Opened, policy: CallPolicy, handed_out: list[dict[str, Json]] | None) -> None:
        if self.transcript.is_rate_limited:
            self.trials = Absent(Reason.RATE_LIMITED, "the server asked for fewer requests"), {}
            return
        if CALL in self.spared:
            self.trials = Absent(Reason.NOT_COLLECTED, SPARED), {}
            return
        tools = self.lists["tools"].items if "tools" in self.lists else []
        if isinstance(channel := opened.dialogue.channel, StreamableHttp):
            channel.mirror = find_mirrored_parameters(tools)

        transcript = self.transcript  # `ask` is kept here: a reference to the probe would be a cycle for the collector

        async def ask(method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
            since = len(transcript.exchanges)
            reply = await opened.dialogue.turn_page(method, params, opened.era, seconds=seconds)
            transcript.forget(since)
            return reply

        from crawler.collectors.protocol.trials.tool_trials import ToolTrials  # noqa: PLC0415  only for calls

        tick = asyncio.get_running_loop().time
        self.tool_trials = ToolTrials(policy, tick, opted_out=self.options.opted_out, handed_out=handed_out)
        self._ask_tool = ask
        await self.tool_trials.try_reading_tools(ask, tools)
        if self.mistakes_at_once:
            await self.make_mistakes()
        self.trials = self.tool_trials.record_content()
        tools.clear()

    async def make_mistakes(self) -> bool:
        """Call tools that answered with wrong arguments; whether there was a conversation in which to call them."""
        if self.tool_trials is None or self._ask_tool is None:
            return False
        await self.tool_trials.make_mistakes(self._ask_tool)
        return True

    async def _read_resources(self, opened: Opened, handed_out: list[dict[str, Json]]) -> Finding:
        """Results of tools and contents of resources; nothing of a server that was opened with the operator's
        credentials.
        """
        if "credentials" in self.notes:
            return Absent(Reason.NOT_COLLECTED, "what is read with credentials of the operator is not kept"), {}
        if self.transcript.is_rate_limited:
            return Absent(Reason.RATE_LIMITED, "the server asked for fewer requests"), {}
        if self.restraint or READ in self.spared:
            return Absent(Reason.NOT_COLLECTED, self.restraint or SPARED), {}
        listed = self.lists["resources"].pages if "resources" in self.lists else []
        wanted, unread = resource_reader.choose_resources(listed)
        read = await resource_reader.read_resources(opened.dialogue, opened.era, wanted)
        self.read_meta_keys = read.meta_keys
        tried = self.trials[0] if self.trials else None
        untried = tried.reason.value if isinstance(tried, Absent) else ""
        left = unread + len(wanted) - len(read.handouts)
        return handouts_body(read.handouts, handed_out, unread=left, untried=untried), {}

    def result(self, target: Target, content: Observed | Absent) -> ProbeResult:
        summary = self.transcript.summary()
        headers = {
            name: value
            for exchange in self.transcript.exchanges[:1]
            for name in _OBSERVED_HEADERS
            if (value := exchange.header(name))
        }
        observation: dict[str, Json] = {"requests": len(summary), "exchanges": summary, **self.notes}
        cold, warm = self._latencies()
        return ProbeResult(
            listing=content,
            observation=observation | ({"headers": headers} if headers else {}),
            exchanges=self._exchanges(target),
            access=self.access,
            trials=self.trials,
            handouts=self.handouts,
            attempt=self.attempt,
            falls=self.falls,
            fell=self.fell,
            cold_ms=cold,
            warm_ms=warm,
        )

    def _exchanges(self, target: Target) -> Finding | None:
        if not any(link.opened for link in self.transcript.links):
            return None
        body = exchanges_body.exchanges_body(
            target, self.options.depth, self.transcript, self.lists, self.names, read=self.read_meta_keys
        )
        note: dict[str, Json] = {"requests": len(self.transcript.exchanges)}
        if self.options.is_full:
            note["full_at"] = self.clock().isoformat()
        return Observed(body), note

    def _latencies(self) -> tuple[float | None, float | None]:
        """Milliseconds of the first answered question, and of the first list, which needed no new connection."""
        answered = [row for row in self.transcript.rows if row.exchange.failure is None and row.exchange.received]
        times = [round(row.exchange.seconds * 1000, 1) for row in answered]
        lists = [time for row, time in zip(answered, times, strict=True) if row.step.startswith("list-")]
        return (times[0] if times else None), (lists[0] if lists else None)
