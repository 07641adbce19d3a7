"""Rule `tool-entry-invalid`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring import pages, shapes
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, must, rule

_RIGHT: Final[dict[str, Any]] = {"name": "add", "inputSchema": {"type": "object"}}


@rule(
    "tool-entry-invalid",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A listed tool does not fit the published schema",
    since="2026.2",
    version=1,
    checks=must("TOOL-01", "ABCDE", "schema#tool"),
    good=[
        conversation(legacy("list-tools", result={"tools": [_RIGHT]})),
        conversation(legacy("list-tools", revision="A", result={"tools": [{**_RIGHT, "title": 7}]})),
    ],
    bad=[
        conversation(legacy("list-tools", result={"tools": ["add"]})),
        conversation(legacy("list-tools", result={"tools": [{"name": "add", "inputSchema": None}]})),
        conversation(legacy("list-tools", result={"tools": [_RIGHT, {**_RIGHT, "description": 7}]})),
    ],
    unjudged=[
        conversation(legacy("list-tools", result={"tools": []})),
        conversation(legacy("list-tools", result={"tools": None})),
        conversation(legacy("ping", result={})),
    ],
)
def tool_entry_invalid(talk: Conversation) -> Iterator[Answer]:
    """Every listed tool is an object with the members that the schema of the revision gives it.

    The official clients validate a page of the list as a whole, so that one tool without a name or with `"inputSchema":
    null` takes all the others with it. Each tool is judged alone, under the revision that was agreed on, and the
    finding names the first member that does not fit.
    """
    listed = [one for one in talk.results("list-tools") if pages.entries(one, "tools")]
    if not listed:
        raise Inapplicable("no tools")
    for exchange in listed:
        for place, entry in pages.places(exchange, "tools"):
            if complaint := shapes.complaint("Tool", entry, exchange.connection.revision):
                yield place, complaint
