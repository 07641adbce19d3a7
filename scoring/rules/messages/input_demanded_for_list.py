"""Rule `input-demanded-for-list`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "input-demanded-for-list",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A list or discovery requests input from the client",
    remedy="Set `resultType` to `complete` in the results of lists and of `server/discover`. Use "
    "`input_required` only for `tools/call`, `prompts/get` and `resources/read`.",
    since="2026.2",
    version=1,
    checks=must("MRTR-01", "E", "basic/patterns/mrtr#supported-requests"),
    fix=(
        build_conversation(modern_exchange("list-tools", result={"resultType": "input_required", "requestState": "1"})),
        build_conversation(
            modern_exchange(
                "list-tools", result={"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            )
        ),
    ),
    good=[
        build_conversation(
            modern_exchange("discover", result={"resultType": "complete"}),
            modern_exchange("list-tools", result={"tools": []}),
        )
    ],
    bad=[build_conversation(modern_exchange("discover", result={"resultType": "input_required", "inputRequests": {}}))],
    unjudged=[
        build_conversation(legacy_exchange("list-tools", result={"tools": []})),
        build_conversation(modern_exchange("discover", error={"code": -32603})),
    ],
)
def input_demanded_for_list(conversation: Conversation) -> Iterator[Answer]:
    """Only `tools/call`, `prompts/get` and `resources/read` may request input before they are done.

    Clients list and discover in the background, without a user who could answer. A list with `input_required` stays
    empty for them.
    """
    for exchange in conversation.results("discover", *list_pages.LIST_STEPS):
        if exchange.fields.get("resultType") == "input_required":
            yield exchange, "resultType is input_required, complete expected"
