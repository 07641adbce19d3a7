"""Rule `cursor-not-string`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "cursor-not-string",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A cursor is not a string",
    remedy="Set `nextCursor` to a string, and omit it on the last page. Do not set it to `null`.",
    since="2026.2",
    version=1,
    checks=must("PAGE-03", "ABCDE", "schema#listtoolsresult"),
    fix=(
        build_conversation(legacy_exchange("list-tools", result={"tools": [], "nextCursor": None})),
        build_conversation(legacy_exchange("list-tools", result={"tools": []})),
    ),
    good=[build_conversation(legacy_exchange("list-tools", result={"tools": [], "nextCursor": ""}))],
    bad=[build_conversation(legacy_exchange("list-prompts", result={"prompts": [], "nextCursor": 2}))],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(legacy_exchange("list-tools", error={"code": -32603})),
    ],
)
def cursor_not_string(conversation: Conversation) -> Iterator[Answer]:
    """`nextCursor` is a string, and the last page does not have it.

    Strict clients reject a page with `"nextCursor": null` or a number, with every entry on it. Leave the member out
    instead of setting it to null.
    """
    for exchange in conversation.results(*list_pages.LIST_STEPS):
        if not isinstance(exchange.fields.get("nextCursor", ""), str):
            yield exchange, f"nextCursor is {'null' if exchange.fields['nextCursor'] is None else 'not a string'}"
