"""Rule `cursor-invented-served`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.listing import LISTS
from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.replies import INVALID_PARAMS, describe_reply, list_read_by_server
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.conversation import Conversation

_STEPS: Final = ("cursor-invented", *(f"cursor-invented-{name}" for name in LISTS))


@rule(
    "cursor-invented-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.SUGGESTION,
    title="A cursor that the server did not issue is accepted",
    remedy="Answer a `cursor` that the server did not issue with JSON-RPC error -32602 (Invalid params). Do not "
    "return a page for it.",
    since="2026.2",
    version=1,
    checks=should("PAGE-01", "ABCDE", "server/utilities/pagination#error-handling"),
    fix=(
        build_conversation(legacy_exchange("cursor-invented", result={"tools": []})),
        build_conversation(legacy_exchange("cursor-invented", error={"code": -32602, "message": "Unknown cursor"})),
    ),
    good=[build_conversation(legacy_exchange("cursor-invented", error={"code": -32602}))],
    bad=[
        build_conversation(legacy_exchange("cursor-invented", error={"code": -32603})),
        build_conversation(
            legacy_exchange("cursor-invented", error={"code": -32602}),
            legacy_exchange("cursor-invented-prompts", result={"prompts": []}),
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("list-tools", result={"tools": []})),
        build_conversation(legacy_exchange("cursor-invented", status=500)),
    ],
)
def cursor_invented_served(conversation: Conversation) -> Iterator[Answer]:
    """Answer a cursor that the server did not issue with error -32602.

    Otherwise a client whose cursor has expired gets the first page again, or an empty one, and does not detect that its
    list is incomplete. Only lists that issued a cursor are judged. A finding is tolerated, because the libraries of
    most servers ignore unknown cursors.
    """
    for exchange in list_read_by_server(conversation.conclusive(*_STEPS), conversation.recorded):
        if exchange.code != INVALID_PARAMS:
            yield Tolerated(f"{describe_reply(exchange)}, error {INVALID_PARAMS} expected", exchange)
