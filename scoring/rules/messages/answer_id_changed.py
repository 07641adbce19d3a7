"""Rule `answer-id-changed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import BAD_REQUEST, METHOD_NOT_FOUND, has_request_id
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation

_TEXT: Final = {"jsonrpc": "2.0", "id": "hallmark-id", "method": "hallmark/unknown"}
_NUMBER: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@rule(
    "answer-id-changed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An answer does not have the id of its request",
    remedy="Copy the `id` of the request into its answer with the same value and the same JSON type. Return a "
    "string as a string and a number as a number.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("JSON-01", "ABCDE", "basic#responses"),
    fix=(
        build_conversation(
            legacy_exchange(
                "ping",
                sent={"jsonrpc": "2.0", "id": 1, "method": "ping"},
                message={"jsonrpc": "2.0", "id": "1", "result": {}},
            )
        ),
        build_conversation(legacy_exchange("ping", sent={"jsonrpc": "2.0", "id": 1, "method": "ping"}, result={})),
    ),
    good=[
        build_conversation(
            legacy_exchange("ping", sent=_NUMBER, result={}),
            legacy_exchange("unknown-method", sent=_TEXT, message={"jsonrpc": "2.0", "id": "hallmark-id", "error": {}}),
        ),
        build_conversation(legacy_exchange("ping", sent=_NUMBER, message={"jsonrpc": "2.0", "id": 1.0, "result": {}})),
    ],
    bad=[
        build_conversation(legacy_exchange("ping", sent=_NUMBER, message={"jsonrpc": "2.0", "id": "1", "result": {}})),
        build_conversation(
            modern_exchange("discover", sent=_NUMBER, message={"jsonrpc": "2.0", "id": True, "result": {}})
        ),
        build_conversation(stdio_exchange("ping", sent=_NUMBER, message={"jsonrpc": "2.0", "result": {}})),
        build_conversation(
            modern_exchange(
                "unknown-method", sent=_TEXT, status=404, message={"jsonrpc": "2.0", "error": {"code": -32601}}
            )
        ),
    ],
    unjudged=[
        build_conversation(
            legacy_exchange("ping", sent=_NUMBER, status=400, message={"jsonrpc": "2.0", "id": None, "error": {}})
        ),
        build_conversation(
            legacy_exchange("malformed", message={"jsonrpc": "2.0", "id": None, "error": {"code": -32700}})
        ),
        build_conversation(legacy_exchange("ping", sent=_NUMBER, failure=("timeout", "no answer in 15 s"))),
    ],
)
def answer_id_changed(conversation: Conversation) -> Iterator[Answer]:
    """Return the id of the request in its answer, because a client finds the request by it.

    A string stays a string and a number a number. Most clients ignore an answer with another id and wait for their
    timeout. An error with HTTP 400 or above and without the id is not judged: the server may not have read the request.
    """
    answers = [one for one in conversation.exchanges if _is_judged(one)]
    if not answers:
        raise Undecided("no answer to a request with an id")
    for exchange in answers:
        if not has_request_id(exchange):
            yield exchange, "the id of the answer is not the id of the request"


def _is_judged(exchange: Exchange) -> bool:
    """Whether the server has read the request: it served it, or its error says what it read."""
    if not isinstance(exchange.sent, Mapping) or "id" not in exchange.sent or exchange.unclear or not exchange.answer:
        return False
    return exchange.succeeded or exchange.code == METHOD_NOT_FOUND or (exchange.status or 0) < BAD_REQUEST
