"""Asks a server inquiries within the budget, its rate limit and its time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from crawler.collectors.protocol.questions.inquiries import Inquiry
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.session.dialogue import QuestionBudget, is_transient_failure
from crawler.http.failures import BudgetSpent, TimedOut
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.transcript import TOO_MANY_REQUESTS, Exchange, NamedExchange, Reply, Transcript

Send = Callable[[Inquiry], Awaitable[Reply]]

_MAX_SILENT_METHODS: Final = 2  # stop after questions of so many methods in a row were not answered in time
_MAX_TIMEOUTS: Final = 3  # or after so many such questions in total
_MAX_UNREACHED: Final = 2  # or after so many failed connections in a row
_MAX_RETRIES: Final = 3  # second tries of one interview
_RATE_LIMITED: Final = "the server asked for fewer requests"


class Interview:
    """Asks inquiries one at a time. Once it has stopped, the rest is recorded as not collected.

    `ends` is on the loop's clock; `pause` is in seconds, before a second try. `hold_back` obeys a Retry-After. With
    `selection` only those inquiries are asked, and the others are not recorded: their earlier answers stand.
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
        selection: QuestionSelection | None = None,
    ) -> None:
        self._transcript = transcript
        self._budget = budget
        self._limiter = limiter
        self._ends = ends
        self._pause = pause
        self._hold_back = hold_back
        self._selection = selection
        self._timeouts = self._unreached = self._retries = 0
        self._silent: set[str] = set()
        self._stopped = ""
        if transcript.is_rate_limited:
            self._stopped = _RATE_LIMITED

    @property
    def is_rate_limited(self) -> bool:
        """True when the server asked for fewer requests: not even a session is ended then."""
        return self._stopped == _RATE_LIMITED

    def wants(self, era: str, step: str) -> bool:
        return self._selection is None or self._selection.contains(era, step)

    async def ask(self, link: int, inquiry: Inquiry, send: Send) -> Reply | None:
        """Ask on a connection; None when the inquiry is not selected, or was not asked because the interview has
        stopped.
        """
        if not self.wants(self._transcript.links[link].era, inquiry.step):
            return None
        if not self._stopped and asyncio.get_running_loop().time() >= self._ends:
            self._stopped = "the time for one server was over"
        if not self._stopped and not self._budget.spend():
            self._stopped = "the request budget was spent"
        if self._stopped:
            self._skip(link, inquiry.step)
            return None
        since = len(self._transcript.exchanges)
        reply = await send(inquiry)
        self._check_reply(inquiry, reply)
        if inquiry.again and not self._stopped and self._may_retry(reply):
            await self._limiter.pause(self._pause)
            reply = await send(inquiry)
            self._check_reply(inquiry, reply)
        self._budget.charge(self._transcript.exchanges[since:-1])
        self._transcript.name(since, inquiry.step, 0, link)
        return reply

    async def end_session(self, send: Callable[[], Awaitable[object]]) -> None:
        """End a session that an inquiry opened; done also after the interview has stopped, but never recorded as a
        step.
        """
        self._budget.spend()
        if self._unreached < _MAX_UNREACHED and not self.is_rate_limited:
            await send()

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


def _is_late(reply: Reply) -> bool:
    """True for a question that was not answered in time; a second try would only take as long again."""
    return isinstance(reply.failure, TimedOut) and reply.failure.connected
