"""Rule `stdio-answer-malformed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.canonical import Json
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation


@rule(
    "stdio-answer-malformed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An answer over stdio is not a JSON-RPC response",
    remedy='Send each response with `"jsonrpc": "2.0"` and with the `id` of the request, unchanged in value and type. '
    "Add either `result` or `error`, not both.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("IO-05", "ABCDE", "basic#responses"),
    good=[
        build_conversation(stdio_exchange("ping", sent={"id": 1, "method": "ping"}, result={})),
        build_conversation(
            stdio_exchange(
                "unknown-method", sent={"id": "a"}, message={"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}
            )
        ),
    ],
    bad=[
        build_conversation(stdio_exchange("ping", sent={"id": 1}, message={"id": 1, "result": {}})),
        build_conversation(stdio_exchange("ping", sent={"id": 1}, message={"jsonrpc": "2.0", "id": "1", "result": {}})),
        build_conversation(
            stdio_exchange("ping", sent={"id": 1}, message={"jsonrpc": "2.0", "id": 1, "result": {}, "error": None})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(stdio_exchange("ping", sent={"id": 1}, failure=("timeout", "no answer"))),
        build_conversation(stdio_exchange("initialized", sent={"method": "notifications/initialized"})),
    ],
)
def stdio_answer_malformed(conversation: Conversation) -> Iterator[Answer]:
    """Over stdio all answers share one stream, so only the id relates an answer to its request.

    Each answer has `jsonrpc: "2.0"`, the id of the request with its type, and either a result or an error.
    """
    conclusive = [
        one for one in conversation.over_stdio if isinstance(one.sent, Mapping) and "id" in one.sent and not one.unclear
    ]
    answered = [
        (one, one.sent["id"], one.answer.members) for one in conclusive if isinstance(one.sent, Mapping) and one.answer
    ]
    if not answered:
        raise Undecided("nothing was answered")
    for exchange, expected, answer in answered:
        if answer.get("jsonrpc") != "2.0":
            yield exchange, 'jsonrpc is not "2.0"'
        if not _same(answer.get("id"), expected):
            yield exchange, "the id of the answer is not the id of the request"
        if ("result" in answer) == ("error" in answer):
            yield exchange, "both a result and an error"


def _same(found: Json, expected: Json) -> bool:
    """Equal, and of one type; JSON knows only one type of number."""
    if isinstance(found, bool) or isinstance(expected, bool) or isinstance(found, str) != isinstance(expected, str):
        return False
    return found == expected
