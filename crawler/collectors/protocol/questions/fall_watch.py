"""Watches whether a server still serves fresh clients, and notes after which questions it does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, TypeAlias

from crawler.collectors.protocol.questions.inquiries import Risk, find_risk
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.transcript import Reply
from evidence.kinds.falls import Fall
from evidence.model import Reason

OpenFresh: TypeAlias = Callable[[], Awaitable[Reply]]
"""Opens the server as a fresh client does and ends that session; the reply to the opening. Nothing is recorded."""

AskOwn: TypeAlias = Callable[[], Awaitable[Reply | None]]
"""Sends a harmless question on the session that is open; None where each request is a client of its own."""

CALL: Final = "call"
CALL_MISTAKEN: Final = "call-mistaken"
READ: Final = "read"
METADATA: Final = "metadata"
END: Final = "end"
DISCOVER: Final = "discover"

_APART: Final = frozenset({CALL, READ, METADATA, END, DISCOVER})
"""Steps that are left out one by one, without the inquiries of their risk."""

_SLOW: Final = frozenset({CALL, CALL_MISTAKEN, READ})
"""Steps that may take long and keep a server busy: when one had no answer in time, silence is no fall."""

_LATE: Final = f"{Reason.TIMEOUT.value}:"
_TOO_MANY: Final = 503  # a server that limits its sessions may answer it too


class FallWatch:
    """The falls of one server in one probe.

    Every question that was asked since the last fresh opening is a suspect: a server may answer it and serve no client
    afterwards. A question that was followed by a successful opening before is none. `recovery` is the time in seconds
    that a server has to serve again.
    """

    def __init__(self, limiter: HostRateLimiter, recovery: float) -> None:
        self._limiter = limiter
        self._recovery = recovery
        self._asked: dict[str, str] = {}  # replies in words: a reply itself may be large
        self._harmless: set[str] = set()
        self._has_served = False
        self.falls: list[Fall] = []
        self.survived: list[str] = []

    @property
    def has_suspects(self) -> bool:
        """True when a question was asked after which no fresh client opened the server yet."""
        return any(question not in self._harmless for question in self._asked)

    def note(self, question: str, reply: Reply | None = None) -> None:
        """Note a question, such as `legacy/ping`, and the reply to it, if that is known."""
        self._asked[question] = _describe(reply) if reply else "not recorded"

    async def check(self, open_fresh: OpenFresh, ask_own: AskOwn, *, is_over: Callable[[], bool]) -> Reply:
        """Open the server as a fresh client, and again after a pause if that is not served; the last reply.

        Where both show harm, the suspects are falls, unless `is_over`: then a time-out may be our own. A server that
        never served a second client in this probe has fallen only if it does not serve our own session either.
        """
        asked, self._asked = self._asked, {}
        first = last = await open_fresh()
        if is_unserved(first):
            await self._limiter.pause(self._recovery)
            last = await open_fresh()
        if last.result is not None:
            self._has_served = True
            self._harmless |= set(asked)
            self.survived += [question for question in asked if _risk_of(question) is Risk.RISKY]
        elif is_unserved(first) and is_unserved(last) and not is_over() and await self._is_down(asked, last, ask_own):
            suspects = [question for question in asked if question not in self._harmless] or list(asked)
            self.falls += [_make_fall(question, asked[question], first, last) for question in suspects]
        else:
            self._asked = asked | self._asked
        return last

    async def _is_down(self, asked: Mapping[str, str], last: Reply, ask_own: AskOwn) -> bool:
        """Whether a server that did not serve fresh clients serves no client at all, as far as it can be known."""
        if any(question.partition("/")[2] in _SLOW and sign.startswith(_LATE) for question, sign in asked.items()):
            return False
        if self._has_served and last.status != _TOO_MANY:
            return True
        own = await ask_own()
        return own is None or is_unserved(own)


def find_spared_risk(fallen: Iterable[str]) -> Risk | None:
    """The least risk of the questions under which a server fell: none of it and above is asked. None without a fall."""
    steps = [question.partition("/")[2] for question in fallen]
    return min((Risk.RISKY if step in _APART else find_risk(step) for step in steps), default=None)


def is_harm(reply: Reply) -> bool:
    """Whether a reply is one of a server that broke: 5xx, a connection that failed, or no answer in time."""
    if reply.result is not None:
        return False
    failure = reply.failure
    if failure is not None:
        return failure.transient and failure.reason in {Reason.UNREACHABLE, Reason.TIMEOUT}
    return reply.status is not None and reply.status >= 500


def is_unserved(reply: Reply) -> bool:
    """Whether an opening shows harm: as any reply does, or 2xx without a body, where there was an answer before."""
    status = reply.status or 0
    return is_harm(reply) or (200 <= status < 300 and reply.answer is None and not reply.exchange.size)


def _risk_of(question: str) -> Risk:
    return find_risk(question.partition("/")[2])


def _make_fall(question: str, sign: str, first: Reply, second: Reply) -> Fall:
    openings = (_describe(one) if is_harm(one) else f"HTTP {one.status} without a body" for one in (first, second))
    return Fall(question=question, transport=first.exchange.transport, signs=(sign, *openings))


def _describe(reply: Reply) -> str:
    if reply.failure is not None:
        return f"{reply.failure.reason.value}: {reply.failure.detail}"
    return f"HTTP {reply.status}" if reply.status is not None else "no answer"
