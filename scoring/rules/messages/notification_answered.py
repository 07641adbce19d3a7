"""Rule `notification-answered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import BAD_REQUEST
from scoring.protocol.streamable_http import STREAMABLE
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation


@rule(
    "notification-answered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A notification is answered",
    remedy="Send no JSON-RPC response to a notification such as `notifications/initialized`. Over HTTP, answer "
    "it with status 202 and an empty body.",
    since="2026.2",
    version=1,
    checks=must("JSON-05", "ABCDE", "basic#notifications"),
    fix=(
        build_conversation(legacy_exchange("initialized", result={})),
        build_conversation(legacy_exchange("initialized", status=202, form="other", headers={})),
    ),
    good=[
        build_conversation(legacy_exchange("initialized", status=202, form="none")),
        build_conversation(legacy_exchange("initialized", status=200, message={"ok": True})),
        build_conversation(stdio_exchange("initialized", result={"late": "to an earlier request"})),
    ],
    bad=[
        build_conversation(legacy_exchange("initialized", status=202, error={"code": -32601})),
        build_conversation(
            stdio_exchange("initialized", message={"jsonrpc": "2.0", "id": None, "error": {"code": -32601}})
        ),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(legacy_exchange("initialized", status=400, error={"code": -32600})),
        build_conversation(legacy_exchange("initialized", failure=("timeout", "no answer in 15 s"))),
    ],
)
def notification_answered(conversation: Conversation) -> Iterator[Answer]:
    """A notification has no id and gets no answer, neither a result nor an error.

    An answer to `notifications/initialized` belongs to no request: clients log a warning or close the connection. Over
    HTTP the body of the 202 is empty. A notification that is refused with an HTTP error is not judged here. Nor is an
    answer with an id where all answers share one channel: it is a late answer to a request.
    """
    accepted = [one for one in conversation.conclusive("initialized") if (one.status or 0) < BAD_REQUEST]
    if not accepted:
        raise Undecided("the notification was refused")
    for exchange in accepted:
        answer, shared = exchange.answer, exchange.connection.transport != STREAMABLE
        if answer is not None and not (shared and answer.members.get("id") is not None):
            yield exchange, f"answered with {'an error' if exchange.error is not None else 'a result'}"
