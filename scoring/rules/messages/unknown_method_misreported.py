"""Rule `unknown-method-misreported`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import METHOD_NOT_FOUND, describe_reply, list_read_by_server
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_SESSION: Final = {"length": 32, "visible": True, "same_as": None}


@rule(
    "unknown-method-misreported",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An unknown method is not answered with error -32601",
    remedy="Answer an unknown method with JSON-RPC error -32601 (Method not found). Check the method before you "
    "check the parameters.",
    since="2026.2",
    version=1,
    checks=must("JSON-04", "ABCD", "basic#responses"),
    fix=(
        build_conversation(legacy_exchange("unknown-method", error={"code": -32602, "message": "Invalid params"})),
        build_conversation(legacy_exchange("unknown-method", error={"code": -32601, "message": "Method not found"})),
    ),
    good=[
        build_conversation(legacy_exchange("unknown-method", error={"code": -32601})),
        build_conversation(legacy_exchange("unknown-method", status=404, error={"code": -32601})),
    ],
    bad=[
        build_conversation(legacy_exchange("unknown-method", error={"code": -32602})),
        build_conversation(legacy_exchange("unknown-method", result={})),
        build_conversation(legacy_exchange("unknown-method", status=400, error={"code": -32600})),
        build_conversation(
            legacy_exchange("unknown-method", session=_SESSION, status=400, error={"code": -32600}),
            legacy_exchange("ping", session=_SESSION, result={}),
        ),
    ],
    unjudged=[
        build_conversation(modern_exchange("unknown-method", status=404, error={"code": -32601})),
        build_conversation(legacy_exchange("unknown-method", session=_SESSION, status=404, error={"code": -32600})),
        build_conversation(legacy_exchange("unknown-method", status=404, form="other")),
        build_conversation(legacy_exchange("unknown-method", status=500)),
    ],
)
def unknown_method_misreported(conversation: Conversation) -> Iterator[Answer]:
    """Answer a method that the server does not have with error -32601, and no other.

    Clients try optional methods and read -32601 as "not supported". Any other error indicates a fault of the request,
    which they repeat or report. Check the method before the parameters.
    """
    found = conversation.conclusive("unknown-method")
    for exchange in list_read_by_server(found, conversation.recorded):
        if exchange.code != METHOD_NOT_FOUND:
            yield exchange, f"{describe_reply(exchange)}, error {METHOD_NOT_FOUND} expected"
