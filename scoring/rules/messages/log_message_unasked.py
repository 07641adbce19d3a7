"""Rule `log-message-unasked`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.canonical import Json
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Inapplicable, Severity, Undecided
from scoring.rule import Answer, must, rule


def _heard(what: str) -> dict[str, Json]:
    return {"message": {"jsonrpc": "2.0", "method": f"notifications/{what}"}, "event": "message", "id": False}


@rule(
    "log-message-unasked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Log messages are sent to a client that asked for none",
    since="2026.2",
    version=1,
    checks=must("LOG-02", "E", "server/utilities/logging#per-request-log-level"),
    good=[
        conversation(modern("discover", result={})),
        conversation(modern("list-tools", received=[_heard("progress")])),
    ],
    bad=[
        conversation(modern("list-tools", received=[_heard("message")])),
    ],
    unjudged=[
        conversation(legacy("initialize", result={})),
        conversation(modern("discover", status=503)),
    ],
)
def log_message_unasked(talk: Conversation) -> Iterator[Answer]:
    """Log messages go to a client that put `io.modelcontextprotocol/logLevel` into its request, and to no other.

    A client that did not ask has nobody to read them, and on a stream it may not expect anything but the answer. None
    of our requests asks for them. Write logs to stderr.
    """
    if not talk.exchanges:
        raise Inapplicable
    if not any(exchange.received for exchange in talk.exchanges if not exchange.is_refusal):
        raise Undecided("nothing was received")
    for exchange in talk.exchanges:
        if any(one.is_notification and one.members["method"] == "notifications/message" for one in exchange.received):
            yield exchange, "notifications/message, although the request has no log level"
