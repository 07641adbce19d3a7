"""Rule `log-message-unasked`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.canonical import Json
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.conversation import Conversation


def _notification(what: str) -> dict[str, Json]:
    return {"message": {"jsonrpc": "2.0", "method": f"notifications/{what}"}, "event": "message", "id": False}


@rule(
    "log-message-unasked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Log messages are sent to a client that did not request them",
    remedy="Send `notifications/message` only for a request with `io.modelcontextprotocol/logLevel` in `_meta`. "
    "Write all other logs to stderr.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("LOG-02", "E", "server/utilities/logging#per-request-log-level"),
    good=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("list-tools", received=[_notification("progress")])),
    ],
    bad=[build_conversation(modern_exchange("list-tools", received=[_notification("message")]))],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("discover", status=503)),
    ],
)
def log_message_unasked(conversation: Conversation) -> Iterator[Answer]:
    """Send log messages only to a client that set `io.modelcontextprotocol/logLevel` in its request.

    Other clients do not show them, and on a stream they may expect nothing but the answer. None of our requests sets
    it. Write logs to stderr.
    """
    if not conversation.exchanges:
        raise Inapplicable("no messages were exchanged under these revisions")
    if not any(exchange.received for exchange in conversation.exchanges if not exchange.is_refusal):
        raise Undecided("nothing was received")
    for exchange in conversation.exchanges:
        if any(one.is_notification and one.members["method"] == "notifications/message" for one in exchange.received):
            yield exchange, "notifications/message, although the request has no log level"
