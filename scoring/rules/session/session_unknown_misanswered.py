"""Rule `session-unknown-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, stdio
from scoring.outcome import Severity
from scoring.replies import reply
from scoring.rule import Answer, info, rule
from scoring.streamable import streamable


@rule(
    "session-unknown-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="A session that was never given out is not answered with 404",
    since="2026.2",
    version=1,
    checks=info("SESS-05", "BCD", "basic/transports#session-management"),
    good=[conversation(legacy("session-random", status=404))],
    bad=[conversation(legacy("session-random", status=400)), conversation(legacy("session-random", result={}))],
    unjudged=[conversation(legacy("session-random", status=401)), conversation(stdio("ping", result={}))],
)
def session_unknown_misanswered(talk: Conversation) -> Iterator[Answer]:
    """After a restart a server sees session ids that it does not know any more. 404 makes clients start anew.

    The specification speaks only of sessions that the server itself ended, so this is a remark.
    """
    for exchange in streamable(talk).clear("session-random"):
        if exchange.status != 404:
            yield exchange, f"{reply(exchange)}, HTTP 404 expected"
