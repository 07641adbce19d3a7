"""Rule `session-missing-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.conversation import Conversation


@rule(
    "session-missing-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A request without the session id is not refused with 400",
    remedy="Answer each request without `Mcp-Session-Id`, except `initialize`, with HTTP 400. "
    "If the server needs no sessions, do not send `Mcp-Session-Id` in the response to `initialize`.",
    since="2026.2",
    version=1,
    checks=should("SESS-03", "BCD", "basic/transports#session-management"),
    fix=(
        build_conversation(
            legacy_exchange(
                "session-missing", session={"length": 36, "visible": True, "same_as": None}, result={"tools": []}
            )
        ),
        build_conversation(
            legacy_exchange("session-missing", session={"length": 36, "visible": True, "same_as": None}, status=400)
        ),
    ),
    bad=[
        build_conversation(
            legacy_exchange("session-missing", session={"length": 36, "visible": True, "same_as": None}, result={})
        ),
        build_conversation(
            legacy_exchange("session-missing", session={"length": 36, "visible": True, "same_as": None}, status=404)
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("session-missing", result={})),
        build_conversation(
            legacy_exchange("session-missing", session={"length": 36, "visible": True, "same_as": None}, status=429)
        ),
    ],
)
def session_missing_misanswered(conversation: Conversation) -> Iterator[Answer]:
    """A server that assigns sessions refuses a request without a session id with HTTP 400.

    Otherwise the session protects nothing, and a client that forgets the id is not detected. If sessions are not
    needed, do not assign any. Another refusal than 400 is tolerated: after 404 clients start a new session.
    """
    conclusive = [
        one
        for one in only_streamable_http(conversation).conclusive("session-missing")
        if one.connection.session is not None
    ]
    if not conclusive:
        raise Inapplicable("no session is assigned")
    for exchange in conclusive:
        if exchange.status is not None and exchange.status >= 400:
            if exchange.status != 400:
                yield Tolerated(f"HTTP {exchange.status}, HTTP 400 expected", exchange)
        else:
            yield exchange, f"{describe_reply(exchange)}, HTTP 400 expected"
