"""Rule `session-id-not-ignored`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.conversation import Conversation


@rule(
    "session-id-not-ignored",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A session id is not ignored",
    remedy="Ignore the header `Mcp-Session-Id` of a request under revision 2026-07-28 and answer with the usual "
    "result. Do not send `Mcp-Session-Id` in the response.",
    since="2026.2",
    version=1,
    checks=should("SESSL-01", "E", "basic/transports/streamable-http#earlier-streamable-http-revisions"),
    fix=(
        build_conversation(modern_exchange("discover-session-faked", status=404)),
        build_conversation(
            modern_exchange(
                "discover-session-faked",
                result={
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
    ),
    good=[build_conversation(modern_exchange("discover-session-faked", result={}))],
    bad=[
        build_conversation(
            modern_exchange("discover-session-faked", result={}, headers={"mcp-session-id": "session 0"})
        ),
        build_conversation(
            modern_exchange("discover-session-faked", status=400), legacy_exchange("initialize", result={})
        ),
    ],
    unjudged=[build_conversation(modern_exchange("discover-session-faked", status=503))],
)
def session_id_not_ignored(conversation: Conversation) -> Iterator[Answer]:
    """Revision 2026-07-28 has no sessions, so ignore `Mcp-Session-Id` in a request.

    When the server refuses the request or returns an id, older clients assume a session. A refusal is tolerated for a
    server that also supports an older revision.
    """
    for exchange in only_streamable_http(conversation).conclusive("discover-session-faked"):
        if "mcp-session-id" in exchange.headers:
            yield exchange, "a session id in the answer, none expected"
        elif not exchange.succeeded and conversation.is_dual_era:
            yield Tolerated(f"{describe_reply(exchange)}, a result expected", exchange)
        elif not exchange.succeeded:
            yield exchange, f"{describe_reply(exchange)}, a result expected"
