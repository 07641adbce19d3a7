"""Rule `initialize-carries-request`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "initialize-carries-request",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="The server sends a request before the handshake is complete",
    remedy="Send no request except `ping` before the client sends `notifications/initialized`. Send `roots/list` "
    "and all other requests after it.",
    since="2026.2",
    version=1,
    checks=should("LIFE-04", "ABCD", "basic/lifecycle#initialization"),
    good=[
        build_conversation(
            legacy_exchange(
                "initialize",
                form="stream",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "serverInfo": {"name": "notes", "version": "1"},
                },
            )
        ),
        build_conversation(stdio_exchange("initialize", received=[{"message": {"id": 9, "method": "ping"}}])),
    ],
    bad=[build_conversation(stdio_exchange("initialize", received=[{"message": {"id": 9, "method": "roots/list"}}]))],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(legacy_exchange("initialize", status=503)),
    ],
)
def initialize_carries_request(conversation: Conversation) -> Iterator[Answer]:
    """Before `notifications/initialized` of the client, the server may send no request except `ping`.

    Many clients read requests only after it, so an earlier request is lost and the server waits for its answer.
    """
    conclusive = [one for one in conversation.conclusive("initialize") if one.form in {"stream", "lines"}]
    if not conclusive:
        raise Inapplicable("the answer cannot be accompanied by a request")
    for exchange in conclusive:
        if any(one.is_request and one.members.get("method") != "ping" for one in exchange.received):
            yield exchange, "a request before notifications/initialized, only ping expected"
