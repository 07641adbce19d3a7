"""Asks a server inquiries within the budget, its rate limit and its time, and stops when the server falls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from crawler.collectors.protocol.questions.fall_watch import END, AskOwn, FallWatch, OpenFresh, is_harm
from crawler.collectors.protocol.questions.inquiries import Inquiry, Risk
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.session.dialogue import QuestionBudget, is_transient_failure
from crawler.http.failures import BudgetSpent, TimedOut
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.transcript import TOO_MANY_REQUESTS, Exchange, NamedExchange, Reply, Transcript
from evidence.model import Reason

Send: TypeAlias = Callable[[Inquiry], Awaitable[Reply]]

_MAX_SILENT_METHODS: Final = 2  # stop after questions of so many methods in a row were not answered in time
_MAX_TIMEOUTS: Final = 3  # or after so many such questions in total
_MAX_UNREACHED: Final = 2  # or after so many failed connections in a row
_MAX_RETRIES: Final = 3  # second tries of one interview
_RATE_LIMITED: Final = "the server asked for fewer requests"
_TIME_OVER: Final = "the time for one server was over"
_OFFLINE: Final = "this machine was offline"
_REFUSED: Final = "the server served no second client"


class Interview:
    """Asks inquiries one at a time. Once it has stopped, the rest is recorded as not collected.

    `ends` is on the loop's clock; `pause` is in seconds, before a second try. `hold_back` obeys a Retry-After. With
    `selection` only those inquiries are asked, and the others are not recorded: their earlier answers stand.

    Before a phase, after each risky inquiry, and after a sign of harm, `open_fresh` tests whether a fresh client is
    still served. When it is not, and is not after a pause either, `watch` has the falls, the transcript loses what was
    asked since `begin_phase`, and nothing more is asked or recorded. With `spare` no inquiry of that risk or above is
    asked, selected or not. With a `restraint`, which says why, no inquiry is asked at all.
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
        watch: FallWatch | None = None,
        open_fresh: OpenFresh | None = None,
        ask_own: AskOwn | None = None,
        spare: Risk | None = None,
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
        self._ask_own = ask_own or _ask_nothing
        self._spare = spare
        self._phase = transcript.mark()
        self._watch = watch
        self._timeouts = self._unreached = self._retries = 0
        self._silent: set[str] = set()
        self._stopped = restraint
        if transcript.is_rate_limited:
            self._stopped = _RATE_LIMITED

    @property
    def is_rate_limited(self) -> bool:
        """True when the server asked for fewer requests: not even a session is ended then."""
        return self._stopped == _RATE_LIMITED

    @property
    def has_fallen(self) -> bool:
        """True when the server serves no fresh client any more."""
        return self._watch is not None and bool(self._watch.falls)

    @property
    def has_stopped(self) -> bool:
        """True when nothing more is asked."""
        return bool(self._stopped) or self.has_fallen

    def record_in(self, transcript: Transcript) -> None:
        """Record further inquiries in another transcript, which has the same connections."""
        self._transcript, self._phase = transcript, transcript.mark()

    async def begin_phase(self, risk: Risk) -> None:
        """Begin with inquiries of another risk: after a fall, those of the same risk are not in the transcript.

        What was asked before must not have harmed the server, or its fall would be blamed on what is asked now. A
        server that serves no second client is asked everything but what is risky.
        """
        if self._watch is not None and self._watch.has_suspects and not self._stopped:
            await self._check_server(stops=risk is Risk.RISKY)
        self._phase = self._transcript.mark()

    async def check_last(self) -> None:
        """Test the server once more after questions that were not tested yet."""
        if self._watch is not None and self._watch.has_suspects and not self._stopped:
            await self._check_server()

    async def note(self, question: str, exchanges: Sequence[Exchange]) -> None:
        """Note a question that was asked beside the inquiries, and test the server after a sign of harm."""
        if self._watch is None:
            return
        for exchange in exchanges:
            self._watch.note(question, Reply(exchange))
        if any(is_harm(Reply(one)) for one in exchanges):
            await self._check_server()

    def wants(self, era: str, inquiry: Inquiry) -> bool:
        """Whether an inquiry is asked or recorded as not collected."""
        if self.has_fallen or (self._spare is not None and inquiry.risk >= self._spare):
            return False
        return self._selection is None or self._selection.contains(era, inquiry.step)

    async def ask(self, link: int, inquiry: Inquiry, send: Send) -> Reply | None:
        """Ask on a connection; None when the inquiry is not wanted, or was not asked because the interview has
        stopped.
        """
        era = self._transcript.links[link].era
        if not self.wants(era, inquiry):
            return None
        if not self._stopped and self._is_time_over():
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
        if self._watch is not None:
            self._watch.note(f"{era}/{inquiry.step}", reply)
            if inquiry.risk is Risk.RISKY or is_harm(reply):
                await self._check_server()
        return None if self.has_fallen else reply

    async def end_session(self, era: str, send: Callable[[], Awaitable[Reply]]) -> None:
        """End a session that an inquiry opened; done also after the interview has stopped, but never recorded as a
        step.
        """
        self._budget.spend()
        if self._unreached < _MAX_UNREACHED and not self.is_rate_limited and not self.has_fallen:
            reply = await send()
            if self._watch is not None:
                self._watch.note(f"{era}/{END}", reply)

    async def _check_server(self, *, stops: bool = True) -> None:
        """Open the server as a fresh client; go back to the beginning of the phase after a fall.

        `stops`: whether the interview stops when no fresh client is served, without a fall.
        """
        if self._watch is None or self._open_fresh is None or self.is_rate_limited or self.has_fallen:
            return
        last = await self._watch.check(self._open_fresh, self._ask_own, is_over=self._is_time_over)
        if self._watch.falls:
            self._transcript.rewind(self._phase)
        elif last.result is None:
            self._hold_back(last)
            offline = last.failure is not None and last.failure.reason is Reason.COLLECTOR_OFFLINE
            if last.status == TOO_MANY_REQUESTS or offline:
                self._stopped = _OFFLINE if offline else _RATE_LIMITED
            elif stops:
                self._stopped = _TIME_OVER if self._is_time_over() else _REFUSED

    def _is_time_over(self) -> bool:
        return asyncio.get_running_loop().time() >= self._ends

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


async def _ask_nothing() -> None:
    """Where no session is open beside the questions."""


def _is_late(reply: Reply) -> bool:
    """True for a question that was not answered in time; a second try would only take as long again."""
    return isinstance(reply.failure, TimedOut) and reply.failure.connected
