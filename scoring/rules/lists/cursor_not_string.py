"""Rule `cursor-not-string`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring import pages
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Severity
from scoring.rule import Answer, must, rule


@rule(
    "cursor-not-string",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A cursor is not a string",
    since="2026.2",
    version=1,
    checks=must("PAGE-03", "ABCDE", "schema#listtoolsresult"),
    good=[
        conversation(legacy("list-tools", result={"tools": []})),
        conversation(legacy("list-tools", result={"tools": [], "nextCursor": ""})),
    ],
    bad=[
        conversation(legacy("list-tools", result={"tools": [], "nextCursor": None})),
        conversation(legacy("list-prompts", result={"prompts": [], "nextCursor": 2})),
    ],
    unjudged=[
        conversation(legacy("ping", result={})),
        conversation(legacy("list-tools", error={"code": -32603})),
    ],
)
def cursor_not_string(talk: Conversation) -> Iterator[Answer]:
    """`nextCursor` is a string, and on the last page it is not there.

    Strict clients refuse a page with `"nextCursor": null` or a number as a whole, and with it every entry on it. Leave
    the member out instead of setting it to null.
    """
    for exchange in talk.results(*pages.STEPS):
        if not isinstance(exchange.fields.get("nextCursor", ""), str):
            yield exchange, f"nextCursor is {'null' if exchange.fields['nextCursor'] is None else 'not a string'}"
