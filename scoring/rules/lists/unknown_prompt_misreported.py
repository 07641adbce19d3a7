"""Rule `unknown-prompt-misreported`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import INVALID_PARAMS, describe_reply, list_read_by_server
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "unknown-prompt-misreported",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A prompt that does not exist is not reported as missing",
    remedy="Answer `prompts/get` of an unknown `name` with JSON-RPC error -32602 (Invalid params).",
    since="2026.2",
    version=1,
    checks=should("PROMPT-01", "ABCDE", "server/prompts#error-handling"),
    fix=(
        build_conversation(legacy_exchange("prompt-nonexistent", result={"messages": []})),
        build_conversation(
            legacy_exchange("prompt-nonexistent", error={"code": -32602, "message": "Unknown prompt: sum"})
        ),
    ),
    good=[build_conversation(legacy_exchange("prompt-nonexistent", error={"code": -32602}))],
    bad=[build_conversation(legacy_exchange("prompt-nonexistent", error={"code": 0}))],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(legacy_exchange("prompt-nonexistent", status=502)),
        build_conversation(
            modern_exchange("prompt-nonexistent", result={"resultType": "input_required", "requestState": "1"})
        ),
    ],
)
def unknown_prompt_misreported(conversation: Conversation) -> Iterator[Answer]:
    """Answer a request for a prompt that does not exist with error -32602.

    A client then knows that the name is wrong. Other codes indicate a fault of the server, and some libraries answer 0
    for every exception during the lookup.
    """
    exchanges = [
        one for one in conversation.conclusive("prompt-nonexistent") if one.fields.get("resultType") != "input_required"
    ]
    for exchange in list_read_by_server(exchanges, conversation.recorded):
        if exchange.code != INVALID_PARAMS:
            yield exchange, f"{describe_reply(exchange)}, error {INVALID_PARAMS} expected"
