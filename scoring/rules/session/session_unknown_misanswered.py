"""Rule `session-unknown-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "session-unknown-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="A request in an unknown session is not answered with 404",
    remedy="No change is needed if session ids stay valid after a restart of the server; otherwise answer a request "
    "with an unknown `Mcp-Session-Id` with HTTP 404.",
    since="2026.2",
    version=1,
    checks=info("SESS-05", "BCD", "basic/transports#session-management"),
    fix=(
        build_conversation(legacy_exchange("session-random", status=400)),
        build_conversation(legacy_exchange("session-random", status=404)),
    ),
    bad=[build_conversation(legacy_exchange("session-random", result={}))],
    unjudged=[
        build_conversation(legacy_exchange("session-random", status=401)),
        build_conversation(stdio_exchange("ping", result={})),
    ],
)
def session_unknown_misanswered(conversation: Conversation) -> Iterator[Answer]:
    """Answer an unknown session id with HTTP 404, for instance after a restart, so that clients start a new session.

    The specification defines this only for sessions that the server itself ended, so this check is for information
    only.
    """
    for exchange in only_streamable_http(conversation).conclusive("session-random"):
        if exchange.status != 404:
            yield exchange, f"{describe_reply(exchange)}, HTTP 404 expected"
