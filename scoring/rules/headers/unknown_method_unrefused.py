"""Rule `unknown-method-unrefused`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import METHOD_NOT_FOUND, NOT_FOUND, has_request_id, list_unexpected_replies
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_ERROR: Final[dict[str, Any]] = {"code": -32601, "message": "Method not found"}
_SENT: Final = {"jsonrpc": "2.0", "id": "hallmark-id", "method": "hallmark/unknown"}
_RIGHT: Final = {"jsonrpc": "2.0", "id": "hallmark-id", "error": _ERROR}


@rule(
    "unknown-method-unrefused",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An unknown method is not refused with 404 and -32601",
    remedy="Answer an unknown method with JSON-RPC error -32601 and the `id` of the request, with its JSON type. "
    "Over HTTP under revision 2026-07-28, set the status to 404.",
    since="2026.2",
    version=1,
    checks=must("METH-01", "E", "basic/transports/streamable-http#protocol-version-header"),
    fix=(
        build_conversation(
            modern_exchange(
                "unknown-method", sent=_SENT, message={**_RIGHT, "error": {"code": -32602, "message": "Invalid params"}}
            )
        ),
        build_conversation(modern_exchange("unknown-method", sent=_SENT, status=404, message=_RIGHT)),
    ),
    good=[build_conversation(stdio_exchange("unknown-method", revision="E", sent=_SENT, message=_RIGHT))],
    bad=[
        build_conversation(modern_exchange("unknown-method", sent=_SENT, status=200, message=_RIGHT)),
        build_conversation(modern_exchange("unknown-method", sent=_SENT, status=404, message={**_RIGHT, "id": None})),
        build_conversation(
            modern_exchange("unknown-method", sent=_SENT, status=404, message={"jsonrpc": "2.0", "error": _ERROR})
        ),
        build_conversation(modern_exchange("unknown-method", sent=_SENT, status=404, form="other")),
        build_conversation(
            modern_exchange("unknown-method", sent=_SENT, status=404, message={**_RIGHT, "error": {"code": -32602}})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("unknown-method", sent=_SENT, status=404, message=_RIGHT)),
        build_conversation(modern_exchange("discover", result={}), depth="core"),
        build_conversation(modern_exchange("unknown-method", sent=_SENT, status=403)),
    ],
)
def unknown_method_unrefused(conversation: Conversation) -> Iterator[Answer]:
    """Answer a method that the server does not have with HTTP 404, error -32601 and the id of the request.

    The error shows that the method is missing, not the endpoint. After a bare 404 a client falls back to an older
    transport, and without the id it does not recognise the answer.
    """
    for exchange in conversation.conclusive("unknown-method"):
        if wrong := next(list_unexpected_replies([exchange], status=NOT_FOUND, code=METHOD_NOT_FOUND), None):
            yield wrong
        elif not has_request_id(exchange):
            yield exchange, "the id of the answer is not the id of the request"
