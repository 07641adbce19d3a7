"""Rule `removed-method-served`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.replies import METHOD_NOT_FOUND, NOT_FOUND, list_unexpected_replies
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "removed-method-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A method that the revision removed is not refused with 404 and -32601",
    remedy="Answer `ping`, `logging/setLevel` and `resources/subscribe` under revision 2026-07-28 with JSON-RPC "
    "error -32601. Over HTTP, set the status to 404.",
    since="2026.2",
    version=1,
    checks=must("METH-02", "E", "basic/transports/streamable-http#protocol-version-header"),
    fix=(
        build_conversation(modern_exchange("removed-ping", result={"resultType": "complete"})),
        build_conversation(
            modern_exchange("removed-ping", status=404, error={"code": -32601, "message": "Method not found"})
        ),
    ),
    good=[
        build_conversation(
            modern_exchange("removed-ping", status=404, error={"code": -32601}),
            modern_exchange("removed-logging", status=404, error={"code": -32601}),
            modern_exchange("removed-subscribe", status=404, error={"code": -32601}),
        )
    ],
    bad=[
        build_conversation(modern_exchange("removed-ping", result={})),
        build_conversation(modern_exchange("removed-logging", status=200, error={"code": -32601})),
        build_conversation(modern_exchange("removed-subscribe", status=404, form="other")),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={}), depth="core"),
        build_conversation(modern_exchange("removed-ping", status=500)),
    ],
)
def removed_method_served(conversation: Conversation) -> Iterator[Answer]:
    """From 2026-07-28 on `ping`, `logging/setLevel` and `resources/subscribe` are unknown methods.

    Answer them with HTTP 404 and error -32601. A server of both eras serves them only under the older revisions:
    `logging/setLevel` and `resources/subscribe` change the state of a connection, and connections have no state since
    2026-07-28.
    """
    steps = ("removed-ping", "removed-logging", "removed-subscribe")
    yield from list_unexpected_replies(conversation.conclusive(*steps), status=NOT_FOUND, code=METHOD_NOT_FOUND)
