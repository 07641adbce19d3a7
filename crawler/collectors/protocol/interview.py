"""Putting inquiries to a server: within the budget, politely, and no longer than it stays alive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from crawler.collectors.protocol.dialogue import PASSING, Budget
from crawler.collectors.protocol.inquiries import Inquiry
from crawler.courtesy import Courtesy
from crawler.wire.failures import BudgetSpent, TimedOut
from crawler.wire.transcript import Exchange, Reply, Row, Transcript

Send = Callable[[Inquiry], Awaitable[Reply]]

_TIMEOUTS: Final = 3  # after so many answers that did not come, no more is asked
_DOWN: Final = 2  # or after so many connections in a row that failed
_TRIES_AGAIN: Final = 3  # second tries of one interview
_TOO_MANY: Final = 429
_UNWELCOME: Final = "the server asked for fewer requests"


class Interview:
    """Asks inquiries one at a time. Once it has stopped, what is left is recorded as not collected.

    `ends` is on the loop's clock; `pause` are the seconds before a second try. `hold_back` heeds a Retry-After.
    """

    def __init__(
        self,
        transcript: Transcript,
        budget: Budget,
        courtesy: Courtesy,
        *,
        ends: float,
        pause: float,
        hold_back: Callable[[Reply], object],
    ) -> None:
        self._transcript = transcript
        self._budget = budget
        self._courtesy = courtesy
        self._ends = ends
        self._pause = pause
        self._hold_back = hold_back
        self._timeouts = self._down = self._again = 0
        self._stopped = ""
        if any(row.exchange.status == _TOO_MANY for row in transcript.rows):
            self._stopped = _UNWELCOME

    @property
    def is_unwelcome(self) -> bool:
        """True when the server asked for fewer requests: not even a session is ended then."""
        return self._stopped == _UNWELCOME

    async def ask(self, link: int, inquiry: Inquiry, send: Send) -> Reply | None:
        """Ask on a connection; None when it was not asked any more."""
        if not self._stopped and asyncio.get_running_loop().time() >= self._ends:
            self._stopped = "the time for one server was over"
        if not self._stopped and not self._budget.spend():
            self._stopped = "the request budget was spent"
        if self._stopped:
            self._skip(link, inquiry.step)
            return None
        since = len(self._transcript.exchanges)
        reply = await send(inquiry)
        if inquiry.again and self._may_ask_again(reply):
            await self._courtesy.pause(self._pause)
            reply = await send(inquiry)
        self._transcript.name(since, inquiry.step, 0, link)
        self._notice(reply)
        return reply

    async def leave(self, send: Callable[[], Awaitable[object]]) -> None:
        """End a session that an inquiry opened; done also when nothing more is asked, but never recorded as a step."""
        self._budget.spend()
        if self._down < _DOWN and not self.is_unwelcome:
            await send()

    def _skip(self, link: int, step: str) -> None:
        transport = self._transcript.links[link].transport
        failure = BudgetSpent(self._stopped)
        exchange = Exchange(transport=transport, method="", request=b"", began=0.0, seconds=0.0, failure=failure)
        self._transcript.rows.append(Row(step, 0, link, exchange))

    def _may_ask_again(self, reply: Reply) -> bool:
        passing = reply.failure.passing if reply.failure else reply.status in PASSING
        if not passing or reply.answer or self._again >= _TRIES_AGAIN or not self._budget.spend():
            return False
        self._again += 1
        return True

    def _notice(self, reply: Reply) -> None:
        """Stop when the server asks for it, or is gone."""
        failure = reply.failure
        self._timeouts += isinstance(failure, TimedOut)
        self._down = self._down + 1 if failure and not failure.connected else 0
        self._hold_back(reply)
        if reply.status == _TOO_MANY:
            self._stopped = _UNWELCOME
        elif self._timeouts >= _TIMEOUTS:
            self._stopped = f"{_TIMEOUTS} questions were not answered in time"
        elif self._down >= _DOWN:
            self._stopped = "the server could not be reached any more"
