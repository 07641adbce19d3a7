"""Rule `server-fell-over`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from evidence.kinds.exchanges import REVISIONS, Exchange
from evidence.model import Reason
from scoring.engine.rule import Answer, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation

_HANDSHAKES: Final = frozenset({"initialize", *(f"initialize-{revision}" for revision in REVISIONS.values())})
"""Openings that every server of the handshake era has to answer."""

_MIN_FAILED_HANDSHAKES: Final = 2

_SILENCE: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT})

_OPENED = legacy_exchange("initialize", result={})
_BROKEN: Final[dict[str, Any]] = {"status": 500, "form": "other"}


def _reopened(**members: Any) -> list[dict[str, Any]]:
    return [
        legacy_exchange(f"initialize-{REVISIONS[letter]}", revision=letter, offered=REVISIONS[letter], **members)
        for letter in "ABC"
    ]


@rule(
    "server-fell-over",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The server answers nothing more after a question",
    since="2026.3",
    version=1,
    good=[
        build_conversation(_OPENED, legacy_exchange("unknown-method", **_BROKEN), *_reopened(result={})),
        build_conversation(_OPENED, legacy_exchange("ping", result={}), *_reopened(**_BROKEN)[:1]),
        build_conversation(_OPENED, *_reopened(**_BROKEN), legacy_exchange("ping", result={})),
        build_conversation(_OPENED, legacy_exchange("ping", result={}), *_reopened(status=429, form="other")),
    ],
    bad=[
        build_conversation(_OPENED, legacy_exchange("unknown-method", form="stream"), *_reopened(**_BROKEN)),
        build_conversation(
            _OPENED, legacy_exchange("ping", **_BROKEN), *_reopened(status=None, failure=("unreachable", "refused"))
        ),
        build_conversation(_OPENED, *_reopened(status=None, failure=("timeout", "no answer"))),
    ],
    unjudged=[
        build_conversation(_OPENED, legacy_exchange("ping", result={})),
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(*_reopened(**_BROKEN)),
    ],
)
def server_fell_over(conversation: Conversation) -> Iterator[Answer]:
    """A server must keep answering whatever one client sends: after a fall no client can connect until a restart.

    The server answered an `initialize`, and from one question on it answered nothing: new connections with other
    revisions of the handshake fail with HTTP 5xx or are refused as well. One failed connection is no fall.
    """
    exchanges = conversation.over_http
    first = next((at for at, one in enumerate(exchanges) if one.step in _HANDSHAKES and one.succeeded), None)
    if first is None or not any(one.step in _HANDSHAKES for one in exchanges[first + 1 :]):
        raise Inapplicable("no second handshake after an answered one")
    last = _find_last_alive(exchanges)
    failed = [one for one in exchanges[last + 1 :] if one.step in _HANDSHAKES]
    if len(failed) >= _MIN_FAILED_HANDSHAKES:
        cause = exchanges[last] if _is_unanswered(exchanges[last]) else exchanges[last + 1]
        state = f"HTTP {failed[0].status}" if failed[0].status else "no connection"
        yield cause, f"no answer from this question on; {len(failed)} new connections failed too ({state})"


def _find_last_alive(exchanges: Sequence[Exchange]) -> int:
    """The position of the last exchange that did not fail as a dead server fails."""
    return max(at for at, one in enumerate(exchanges) if not _is_dead(one))


def _is_dead(exchange: Exchange) -> bool:
    return exchange.failure in _SILENCE or (exchange.status is not None and exchange.status >= 500)


def _is_unanswered(exchange: Exchange) -> bool:
    return exchange.is_question and exchange.answer is None and exchange.form == "stream"
