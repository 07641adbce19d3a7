"""One conversation with a server: a channel, a request budget and the retry policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.collectors.protocol.access.access_challenge import AccessRequest
from crawler.http.failures import BudgetSpent, TimedOut
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.channel import Channel, Era
from crawler.mcp.streamable_http import read_requested_wait
from crawler.mcp.transcript import Exchange, Reply, SessionLink, Transcript
from evidence.canonical import Json

STEP_NAMES: Final[Mapping[str, str]] = {
    "server/discover": "discover",
    "initialize": "initialize",
    "notifications/initialized": "initialized",
    "tools/list": "list-tools",
    "resources/list": "list-resources",
    "resources/templates/list": "list-resourceTemplates",
    "prompts/list": "list-prompts",
}
"""The questions of a core probe and the steps under which they are recorded (evidence/kinds/exchanges.py)."""

_MAX_SEARCHED: Final = 64 * 1024  # bytes
TRANSIENT_STATUSES: Final = frozenset({408, 425, 500, 502, 503, 504, *range(520, 531)})
"""Statuses that are likely gone on a second try."""


class ProbeLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one probe; times in seconds.

    `requests` counts the questions of a core probe other than further pages of a list, and `full_requests` those of a
    full probe with its fresh openings. `retest_requests` bounds all requests of a re-test over HTTP. After `items` no
    further page is requested; a page of more than `page_items` is not kept. `values` bounds the JSON values of all
    lists together, since a few bytes of JSON can cost every reader kilobytes. `recovery_pause` is the time that a
    server has to serve a fresh client again before it counts as fallen. So many `processes` of a package may live at a
    time: more than one suits a person who waits, since each needs a slot of the sandbox. `all_starts` bounds the time
    of all processes of a server together, however often it is started.
    """

    requests: int = 12
    full_requests: int = 110
    retest_requests: int = 30
    pages: int = 50
    items: int = 5_000
    page_items: int = 20_000
    values: int = 500_000
    list_bytes: int = 8 * 1024 * 1024
    opening_bytes: int = 1024 * 1024
    discover: float = 10.0
    total: float = 120.0
    all_starts: float = math.inf
    stdio_answer: float = 30.0
    line_bytes: int = 4 * 1024 * 1024
    retry_pause: float = 5.0
    recovery_pause: float = 3.0
    processes: int = 1


class QuestionBudget:
    """The number of questions that one server may still be asked."""

    def __init__(self, requests: int) -> None:
        self.left = requests

    def spend(self) -> bool:
        """Take one question from the budget; False when none is left."""
        self.left -= 1
        return self.left >= 0

    def charge_all(self, exchanges: Sequence[Exchange]) -> None:
        """Count requests that were made without asking the budget."""
        self.left -= len(exchanges)

    def charge(self, exchanges: Sequence[Exchange]) -> None:
        """Count one request for each redirect that was followed."""
        self.left -= sum(300 <= (exchange.status or 0) < 400 for exchange in exchanges)


class Dialogue:
    """Asks over a channel within the budget, and once more after a transient failure.

    `left`: the seconds in which all questions must be answered.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        host: str,
        limiter: HostRateLimiter,
        clock: Callable[[], datetime],
        limits: ProbeLimits,
        budget: QuestionBudget,
        transcript: Transcript,
        left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self.channel = channel
        self._left = left
        self.limits = limits
        self.transcript = transcript
        self.oddities: set[str] = set()
        self.access_replies: dict[tuple[str, str], AccessRequest] = {}
        self._links: dict[Era, int] = {}
        self._host = host
        self._limiter = limiter
        self._clock = clock
        self._budget = budget

    def connect(self, era: Era, offered: str, *, link: int | None = None) -> None:
        """Begin a connection, or continue `link`, which was begun elsewhere. Later questions belong to it."""
        begun = SessionLink(self.channel.transport, era.value, offered)
        self._links[era] = self.transcript.connect(begun) if link is None else link

    def opened(self, era: Era, version: str | None) -> None:
        """Record that the connection's opening succeeded."""
        link = self.transcript.links[self._links[era]]
        link.opened, link.negotiated, link.session = True, version, self.channel.assigned
        for key, reply_to in self.access_replies.items():
            if reply_to.era == era.value and reply_to.step in {"initialize", "discover"}:
                self.access_replies[key] = replace(reply_to, opened=True, version=version)

    def link(self, era: Era) -> int:
        return self._links[era]

    async def ask(
        self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None, retry: bool = True
    ) -> Reply:
        """Ask a question that counts against the budget; `retry` allows the one second try."""
        if not self._budget.spend():
            return _budget_spent(self.channel.transport, method)
        reply = await self.turn_page(method, params, era, seconds=seconds)
        pause = self._pause_before_retry(reply) if retry and self._host else None
        if pause is None or pause + _find_wait(reply) >= self._left() or not self._budget.spend():
            return reply
        await self._limiter.pause(pause)
        again = await self.turn_page(method, params, era, seconds=seconds)
        return reply if isinstance(again.failure, BudgetSpent) else again

    async def turn_page(
        self, method: str, params: Mapping[str, Json], era: Era, *, page: int = 0, seconds: float | None = None
    ) -> Reply:
        """Ask for a further page, which the caps on pages bound instead of the budget."""
        since = len(self.transcript.exchanges)
        reply = await self.channel.send_request(method, params, era, seconds=seconds)
        self._budget.charge(self.transcript.exchanges[since:-1])
        self._process_headers(reply)
        if method in STEP_NAMES:
            listed = STEP_NAMES[method].startswith("list-") and reply.result is not None
            self.transcript.name(since, STEP_NAMES[method], page, self._links[era], shared=listed)
        if method in STEP_NAMES and not page:
            self.note_access_reply(STEP_NAMES[method], era, reply)
        return reply

    def note_access_reply(self, step: str, era: Era, reply: Reply) -> None:
        name = era.value
        self.access_replies[step, name] = AccessRequest(step=step, era=name, reply=_slim(reply))

    async def notify(self, method: str) -> None:
        self._budget.spend()
        since = len(self.transcript.exchanges)
        await self.channel.send_notification(method)
        self.transcript.name(since, STEP_NAMES[method], 0, self._links[Era.LEGACY])

    async def pause_before_retry(self) -> None:
        await self._limiter.pause(self.limits.retry_pause)

    def hold_back(self, reply: Reply) -> float | None:
        """Block requests to this host for the seconds of its Retry-After; None without one."""
        asked_for = read_requested_wait(reply, self._clock())
        if asked_for is not None and self._host:
            self._limiter.defer(self._host, asked_for)
        return asked_for

    def _pause_before_retry(self, reply: Reply) -> float | None:
        """Seconds until a second try; None when it would not help or the server asked for a longer pause."""
        if reply.result:
            return None
        asked_for = read_requested_wait(reply, self._clock())
        if asked_for is not None:
            return asked_for if self._limiter.accepts(asked_for) else None
        return self.limits.retry_pause if is_transient_failure(reply) else None

    def _process_headers(self, reply: Reply) -> None:
        """Obey a Retry-After, and keep for the observation the deviations that did not prevent an answer."""
        self.hold_back(reply)
        if reply.answer is None:
            return
        if reply.answer.odd_id:
            self.oddities.add("response under another id")
        if reply.result and reply.status not in {None, 200, 202}:
            self.oddities.add(f"result under HTTP {reply.status}")
        if reply.exchange.transport != "stdio" and not reply.exchange.utf8:
            self.oddities.add("invalid UTF-8")


def is_transient_failure(reply: Reply) -> bool:
    """True for a failure that is likely gone on a second try."""
    return reply.failure.transient if reply.failure else reply.status in TRANSIENT_STATUSES


def _find_wait(reply: Reply) -> float:
    """Seconds that a second try may take before it tells anything: as many as the first, if that was late."""
    return reply.exchange.seconds if isinstance(reply.failure, TimedOut) else 0.0


def _slim(reply: Reply) -> Reply:
    """The reply cut to the part that the access finding reads, since it is kept until then."""
    if len(reply.exchange.body) <= _MAX_SEARCHED:
        return reply
    exchange = replace(reply.exchange, body=b"" if reply.result else reply.exchange.body[:_MAX_SEARCHED], received=())
    if reply.answer is None or len(reply.answer.span) <= _MAX_SEARCHED:
        return Reply(exchange, reply.answer)
    code: Mapping[str, Json] = {"code": reply.answer.code, "message": reply.answer.message[:_MAX_SEARCHED]}
    return Reply(exchange, replace(reply.answer, span=b"", value=code if reply.answer.is_error else {}))


def _budget_spent(transport: str, method: str) -> Reply:
    failure = BudgetSpent("the request budget is spent")
    return Reply(Exchange(transport=transport, method=method, request=b"", began=0, seconds=0, failure=failure))
