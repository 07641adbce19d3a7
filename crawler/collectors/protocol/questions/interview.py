"""Asks a server inquiries within the budget, its rate limit and its time, and stops when the server falls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from crawler.collectors.protocol.questions.inquiries import Inquiry, Risk
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.session.dialogue import QuestionBudget, is_transient_failure
from crawler.http.failures import BudgetSpent, TimedOut
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.transcript import TOO_MANY_REQUESTS, Exchange, NamedExchange, Reply, Transcript
from evidence.kinds.falls import Fall
from evidence.model import Reason

Send: TypeAlias = Callable[[Inquiry], Awaitable[Reply]]
OpenFresh: TypeAlias = Callable[[], Awaitable[Reply]]
"""Opens the server as a fresh client does and ends that session; the reply to the opening. Nothing is recorded."""

_MAX_SILENT_METHODS: Final = 2  # stop after questions of so many methods in a row were not answered in time
_MAX_TIMEOUTS: Final = 3  # or after so many such questions in total
_MAX_UNREACHED: Final = 2  # or after so many failed connections in a row
_MAX_RETRIES: Final = 3  # second tries of one interview
_RATE_LIMITED: Final = "the server asked for fewer requests"
_TIME_OVER: Final = "the time for one server was over"
_OFFLINE: Final = "this machine was offline"
_REFUSED: Final = "the server refused a fresh client"


class Interview:
    """Asks inquiries one at a time. Once it has stopped, the rest is recorded as not collected.

    `ends` is on the loop's clock; `pause` is in seconds, before a second try. `hold_back` obeys a Retry-After. With
    `selection` only those inquiries are asked, and the others are not recorded: their earlier answers stand.

    After each risky inquiry, and after a sign of harm, `open_fresh` tests whether a fresh client is still served. When
    it is not, and is not after `recovery` seconds either, the inquiry is recorded in `falls`, the transcript loses what
    was asked since `begin_phase`, and nothing more is asked or recorded. With `spare` no risky inquiry is asked that
    the selection does not name. With a `restraint`, which says why, no inquiry is asked at all.
    """

    def __init__(
        self,
        transcript: Transcript,
        budget: QuestionBudget,
        limiter: HostRateLimiter,
        *,
        ends: float,
        pause: float,
        hold_back: Callable[[Reply], float | None],
        names: RandomNames,
        selection: QuestionSelection | None = None,
        open_fresh: OpenFresh | None = None,
        recovery: float = 0,
        spare: bool = False,
        restraint: str = "",
    ) -> None:
        self._transcript = transcript
        self._budget = budget
        self._limiter = limiter
        self._ends = ends
        self._pause = pause
        self._hold_back = hold_back
        self._names = names
        self._selection = selection
        self._open_fresh = open_fresh
        self._recovery = recovery
        self._spare = spare
        self._phase = transcript.mark()
        self.falls: list[Fall] = []
        self.survived: list[str] = []
        self._timeouts = self._unreached = self._retries = 0
        self._silent: set[str] = set()
        self._stopped = restraint
        if transcript.is_rate_limited:
            self._stopped = _RATE_LIMITED

    @property
    def is_rate_limited(self) -> bool:
        """True when the server asked for fewer requests: not even a session is ended then."""
        return self._stopped == _RATE_LIMITED

    def begin_phase(self) -> None:
        """Begin with inquiries of another risk: after a fall, those of the same risk are not in the transcript."""
        self._phase = self._transcript.mark()

    def wants(self, era: str, inquiry: Inquiry) -> bool:
        """Whether an inquiry is asked or recorded as not collected."""
        if self.falls:
            return False
        if self._selection is None:
            return not (self._spare and inquiry.risk is Risk.RISKY)
        return self._selection.contains(era, inquiry.step)

    async def ask(self, link: int, inquiry: Inquiry, send: Send) -> Reply | None:
        """Ask on a connection; None when the inquiry is not wanted, or was not asked because the interview has
        stopped.
        """
        era = self._transcript.links[link].era
        if not self.wants(era, inquiry):
            return None
        if not self._stopped and asyncio.get_running_loop().time() >= self._ends:
            self._stopped = _TIME_OVER
        if not self._stopped and not self._budget.spend():
            self._stopped = "the request budget was spent"
        if self._stopped:
            self._skip(link, inquiry.step)
            return None
        since = len(self._transcript.exchanges)
        sent = self._names.apply(inquiry)
        reply = await send(sent)
        self._check_reply(inquiry, reply)
        if inquiry.again and not self._stopped and self._may_retry(reply):
            await self._limiter.pause(self._pause)
            reply = await send(sent)
            self._check_reply(inquiry, reply)
        self._budget.charge(self._transcript.exchanges[since:-1])
        self._transcript.name(since, inquiry.step, 0, link)
        await self._check_server(f"{era}/{inquiry.step}", inquiry, reply)
        return None if self.falls else reply

    async def end_session(self, send: Callable[[], Awaitable[object]]) -> None:
        """End a session that an inquiry opened; done also after the interview has stopped, but never recorded as a
        step.
        """
        self._budget.spend()
        if self._unreached < _MAX_UNREACHED and not self.is_rate_limited and not self.falls:
            await send()

    async def _check_server(self, question: str, inquiry: Inquiry, reply: Reply) -> None:
        """Open the server as a fresh client after a risky question or a sign of harm; note a fall or a survival."""
        risky = inquiry.risk is Risk.RISKY
        if self._open_fresh is None or self.is_rate_limited or not (risky or is_harm(reply)):
            return
        first, second = await open_twice(self._open_fresh, self._limiter, self._recovery)
        if second is not None and is_harm(second):
            if asyncio.get_running_loop().time() >= self._ends:
                self._stopped = _TIME_OVER  # a time-out may be our own
                return
            self.falls.append(make_fall(question, reply, first, second))
            self._transcript.rewind(self._phase)
            return
        first = second or first
        if first.result is not None:
            self.survived += [question] if risky else []
            return
        self._hold_back(first)
        offline = first.failure is not None and first.failure.reason is Reason.COLLECTOR_OFFLINE
        limited = first.status == TOO_MANY_REQUESTS
        self._stopped = _RATE_LIMITED if limited else _OFFLINE if offline else _REFUSED

    def _skip(self, link: int, step: str) -> None:
        if self._selection is not None:
            return
        transport = self._transcript.links[link].transport
        failure = BudgetSpent(self._stopped)
        exchange = Exchange(transport=transport, method="", request=b"", began=0.0, seconds=0.0, failure=failure)
        self._transcript.rows.append(NamedExchange(step, 0, link, exchange))

    def _may_retry(self, reply: Reply) -> bool:
        if not is_transient_failure(reply) or reply.answer or _is_late(reply) or self._retries >= _MAX_RETRIES:
            return False
        if not self._budget.spend():
            return False
        self._retries += 1
        return True

    def _check_reply(self, inquiry: Inquiry, reply: Reply) -> None:
        """Stop when the server asks for it, or is gone."""
        failure = reply.failure
        is_late = _is_late(reply)
        self._timeouts += is_late
        self._silent = {*self._silent, inquiry.label} if is_late else set()
        self._unreached = self._unreached + 1 if failure and not failure.connected else 0
        asked_for = self._hold_back(reply)
        if reply.status == TOO_MANY_REQUESTS or (asked_for is not None and not self._limiter.accepts(asked_for)):
            self._stopped = _RATE_LIMITED
        elif len(self._silent) >= _MAX_SILENT_METHODS or self._timeouts >= _MAX_TIMEOUTS:
            self._stopped = "questions were not answered in time"
        elif self._unreached >= _MAX_UNREACHED:
            self._stopped = "the server could not be reached any more"


async def open_twice(open_fresh: OpenFresh, limiter: HostRateLimiter, recovery: float) -> tuple[Reply, Reply | None]:
    """Open the server as a fresh client, and again after `recovery` seconds if that shows harm."""
    first = await open_fresh()
    if not is_harm(first):
        return first, None
    await limiter.pause(recovery)
    return first, await open_fresh()


def make_fall(question: str, reply: Reply, first: Reply, second: Reply) -> Fall:
    """The fall under a question, from its reply and those to two fresh openings."""
    signs = (_describe_sign(reply), _describe_sign(first), _describe_sign(second))
    return Fall(question=question, transport=reply.exchange.transport, signs=signs)


def is_harm(reply: Reply) -> bool:
    """Whether a reply is one of a server that broke: 5xx, a connection that failed, or no answer in time."""
    if reply.result is not None:
        return False
    failure = reply.failure
    if failure is not None:
        return failure.transient and failure.reason in {Reason.UNREACHABLE, Reason.TIMEOUT}
    return reply.status is not None and reply.status >= 500


def _describe_sign(reply: Reply) -> str:
    if reply.failure is not None:
        return f"{reply.failure.reason.value}: {reply.failure.detail}"
    return f"HTTP {reply.status}" if reply.status is not None else "no answer"


def _is_late(reply: Reply) -> bool:
    """True for a question that was not answered in time; a second try would only take as long again."""
    return isinstance(reply.failure, TimedOut) and reply.failure.connected
