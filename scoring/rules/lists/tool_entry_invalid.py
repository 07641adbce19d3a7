"""Rule `tool-entry-invalid`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages, result_schemas
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation

_RIGHT: Final[dict[str, Any]] = {"name": "add", "inputSchema": {"type": "object"}}


@rule(
    "tool-entry-invalid",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A listed tool does not match the published schema",
    remedy="Correct the named member by the `Tool` schema of the agreed revision: `name` is a string, and "
    '`inputSchema` is an object with `"type": "object"`. Omit optional members instead of `null`.',
    since="2026.2",
    version=1,
    checks=must("TOOL-01", "ABCDE", "schema#tool"),
    fix=(
        build_conversation(legacy_exchange("list-tools", result={"tools": [{"name": "add", "inputSchema": None}]})),
        build_conversation(
            legacy_exchange("list-tools", result={"tools": [{"name": "add", "inputSchema": {"type": "object"}}]})
        ),
    ),
    good=[
        build_conversation(legacy_exchange("list-tools", result={"tools": [_RIGHT]})),
        build_conversation(legacy_exchange("list-tools", revision="A", result={"tools": [{**_RIGHT, "title": 7}]})),
    ],
    bad=[
        build_conversation(legacy_exchange("list-tools", result={"tools": ["add"]})),
        build_conversation(legacy_exchange("list-tools", result={"tools": [_RIGHT, {**_RIGHT, "description": 7}]})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("list-tools", result={"tools": []})),
        build_conversation(legacy_exchange("list-tools", result={"tools": None})),
        build_conversation(legacy_exchange("ping", result={})),
    ],
)
def tool_entry_invalid(conversation: Conversation) -> Iterator[Answer]:
    """Every listed tool is an object with the members that the schema of the revision defines.

    The official clients validate a page of the list as a whole, so that one tool without a name or with `"inputSchema":
    null` makes them reject all others. Each tool is judged separately under the agreed revision, and the finding names
    the first member that does not match.
    """
    listed = [one for one in conversation.results("list-tools") if list_pages.list_page_entries(one, "tools")]
    if not listed:
        raise Inapplicable("no tools")
    for exchange in listed:
        for place, entry in list_pages.list_entry_places(exchange, "tools"):
            if complaint := result_schemas.find_mismatch("Tool", entry, exchange.connection.revision):
                yield place, complaint
