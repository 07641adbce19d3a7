"""Rule `answer-malformed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange, Received
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol import result_schemas
from scoring.protocol.replies import BAD_REQUEST
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "answer-malformed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An answer is not a JSON-RPC response",
    remedy='Send each response with `"jsonrpc": "2.0"` and either `result` or `error`, not both. Give `error` an '
    "integer `code` and a string `message`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("JSON-02", "ABCDE", "basic#responses"),
    fix=(
        build_conversation(legacy_exchange("ping", message={"jsonrpc": "2.0", "id": 1, "result": {}, "error": None})),
        build_conversation(legacy_exchange("ping", result={})),
    ),
    good=[
        build_conversation(
            legacy_exchange("ping", result={}),
            modern_exchange("discover", status=400, error={"code": -32601, "message": ""}),
        ),
        build_conversation(
            legacy_exchange("ping", result={}),
            legacy_exchange("unknown-method", status=404, message={"error": "Not Found"}),
        ),
        build_conversation(
            legacy_exchange("ping", result={}),
            legacy_exchange("end", verb="DELETE", message={"message": "session ended"}),
        ),
        build_conversation(
            stdio_exchange("ping", received=[{"text": "ready"}, {"message": {"jsonrpc": "2.0", "result": {}}}])
        ),
        build_conversation(
            legacy_exchange(
                "ping",
                form="stream",
                received=[
                    {"message": {"jsonrpc": "2.0", "method": "notifications/message"}},
                    {"message": {"jsonrpc": "2.0", "id": 1}, "too_large": 70000},
                ],
            )
        ),
    ],
    bad=[
        build_conversation(legacy_exchange("ping", message={"id": 1, "result": {}})),
        build_conversation(legacy_exchange("ping", message={"jsonrpc": 2.0, "id": 1, "result": {}})),
        build_conversation(legacy_exchange("ping", message={"jsonrpc": "2.0", "id": 1})),
        build_conversation(legacy_exchange("ping", error="Method not found")),
        build_conversation(legacy_exchange("ping", error={"code": "-32601", "message": "Method not found"})),
        build_conversation(legacy_exchange("ping", error={"code": -32601})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("ping", status=401, message={"error": "invalid_token"})),
        build_conversation(legacy_exchange("ping", status=502, message={"error": "Bad Gateway"})),
    ],
)
def answer_malformed(conversation: Conversation) -> Iterator[Answer]:
    """A response has `"jsonrpc": "2.0"` and either a result or an error.

    An error has an integer as its `code` and a string as its `message`. Clients validate responses first, and ignore
    those that do not match. A body with HTTP 400 or above is judged only when it has a member `jsonrpc`. Answers to GET
    and DELETE are not judged, because these carry no request.
    """
    checked = False
    for exchange in conversation.exchanges:
        missing = exchange.answer.missing if exchange.answer else ""
        if exchange.is_refusal or exchange.unclear != missing:
            continue
        for received in exchange.received:
            if _is_judged(exchange, received):
                checked = True
                if complaint := _complaint(received):
                    yield exchange, complaint
    if not checked:
        raise Inapplicable("no answers")


def _is_judged(exchange: Exchange, received: Received) -> bool:
    asks = exchange.is_question and exchange.verb not in {"GET", "DELETE"}
    if not asks or not received.members or "method" in received.members:
        return False
    return (exchange.status or 0) < BAD_REQUEST or "jsonrpc" in received.members


def _complaint(received: Received) -> str:
    message = received.members
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc is not "2.0"'
    has_result = "result" in message or bool(received.missing)
    if has_result == ("error" in message):
        return "both a result and an error" if has_result else "neither a result nor an error"
    return "" if has_result else _error_complaint(message["error"])


def _error_complaint(error: Json) -> str:
    if not isinstance(error, Mapping):
        return "the error is not an object"
    if not result_schemas.is_integer(error.get("code")):
        return "the code of the error is not an integer"
    return "" if isinstance(error.get("message"), str) else "the message of the error is not a string"
