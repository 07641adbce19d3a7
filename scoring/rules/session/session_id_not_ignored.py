"""Rule `session-id-not-ignored`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity, Tolerated
from scoring.replies import reply
from scoring.rule import Answer, rule, should
from scoring.streamable import streamable


@rule(
    "session-id-not-ignored",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A session id is not ignored",
    since="2026.2",
    version=1,
    checks=should("SESSL-01", "E", "basic/transports/streamable-http#earlier-streamable-http-revisions"),
    good=[conversation(modern("discover-session-faked", result={}))],
    bad=[
        conversation(modern("discover-session-faked", status=404)),
        conversation(modern("discover-session-faked", result={}, headers={"mcp-session-id": "session 0"})),
        conversation(modern("discover-session-faked", status=400), legacy("initialize", result={})),
    ],
    unjudged=[conversation(modern("discover-session-faked", status=503))],
)
def session_id_not_ignored(talk: Conversation) -> Iterator[Answer]:
    """Revision 2026-07-28 has no sessions. A client that still sends `Mcp-Session-Id` is served as if it did not.

    Refusing the request, or handing out an id, makes older clients believe in a session. A server that also speaks an
    older revision may take the id for one of those and gets a remark only.
    """
    for exchange in streamable(talk).clear("discover-session-faked"):
        if "mcp-session-id" in exchange.headers:
            yield exchange, "a session id in the answer, none expected"
        elif not exchange.succeeded and talk.is_dual_era:
            yield Tolerated(f"{reply(exchange)}, the session id to be ignored expected", exchange)
        elif not exchange.succeeded:
            yield exchange, f"{reply(exchange)}, the session id to be ignored expected"
