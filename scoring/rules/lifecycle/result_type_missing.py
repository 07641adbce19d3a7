"""Rule `result-type-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.list_pages import LIST_STEPS
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_OTHERS: Final = (
    "call-nonexistent",
    "read-nonexistent",
    "prompt-nonexistent",
    "list-tools-again",
    "list-tools-elsewhere",
)


@rule(
    "result-type-missing",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A result does not say whether it is complete",
    remedy="Add `resultType` to every result, and set it to `complete` unless the call needs input from the "
    "client. Use only `complete` for lists and `server/discover`.",
    since="2026.2",
    version=1,
    checks=must("RT-01", "E", "basic#responses"),
    fix=(
        build_conversation(modern_exchange("list-tools", result={"tools": [], "ttlMs": 0, "cacheScope": "private"})),
        build_conversation(
            modern_exchange(
                "list-tools", result={"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            )
        ),
    ),
    good=[
        build_conversation(modern_exchange("discover", result={"resultType": "complete"})),
        build_conversation(modern_exchange("call-nonexistent", result={"resultType": "input_required"})),
    ],
    bad=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("list-tools", result={"resultType": "input_required"})),
        build_conversation(modern_exchange("call-nonexistent", result={"isError": True})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("discover", status=503)),
    ],
)
def result_type_missing(conversation: Conversation) -> Iterator[Answer]:
    """`resultType` distinguishes a complete result from one that requests input, so every result needs it.

    A client of revision 2026-07-28 cannot interpret the result without it. Lists and `server/discover` are always
    `complete`.
    """
    for exchange in conversation.results("discover", *LIST_STEPS, *_OTHERS):
        kind = exchange.fields.get("resultType")
        if not isinstance(kind, str):
            yield exchange, "no resultType"
        elif kind != "complete" and exchange.step in {"discover", *LIST_STEPS}:
            yield exchange, "resultType is not complete"
