"""Rule `prompt-entry-invalid`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages, result_schemas
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation

_RIGHT: Final[dict[str, Any]] = {"name": "sum", "arguments": [{"name": "day", "required": True}]}


@rule(
    "prompt-entry-invalid",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A listed prompt does not match the published schema",
    remedy="Correct the named member by the `Prompt` schema of the agreed revision: `name` is a string, and "
    "`arguments` is an array of objects with a string `name`. Omit optional members instead of `null`.",
    since="2026.2",
    version=1,
    checks=must("PROMPT-02", "ABCDE", "schema#prompt"),
    fix=(
        build_conversation(
            legacy_exchange("list-prompts", result={"prompts": [{"name": "sum", "arguments": {"day": "string"}}]})
        ),
        build_conversation(
            legacy_exchange(
                "list-prompts", result={"prompts": [{"name": "sum", "arguments": [{"name": "day", "required": True}]}]}
            )
        ),
    ),
    good=[
        build_conversation(legacy_exchange("list-prompts", result={"prompts": [_RIGHT]})),
        build_conversation(legacy_exchange("list-prompts", revision="A", result={"prompts": [{**_RIGHT, "title": 7}]})),
    ],
    bad=[
        build_conversation(legacy_exchange("list-prompts", result={"prompts": ["sum"]})),
        build_conversation(legacy_exchange("list-prompts", result={"prompts": [_RIGHT, {"name": None}]})),
        build_conversation(
            legacy_exchange("list-prompts", result={"prompts": [{**_RIGHT, "arguments": {"day": "string"}}]})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("list-prompts", result={"prompts": []})),
        build_conversation(legacy_exchange("list-prompts", result={"prompts": None})),
        build_conversation(legacy_exchange("ping", result={})),
    ],
)
def prompt_entry_invalid(conversation: Conversation) -> Iterator[Answer]:
    """Every listed prompt is an object with the members that the schema of the revision defines.

    The official clients validate a page of the list as a whole, so that one prompt without a name, or with arguments
    that are not an array, makes them reject all others. Each prompt is judged separately under the agreed revision, and
    the finding names the first member that does not match.
    """
    listed = [one for one in conversation.results("list-prompts") if list_pages.list_page_entries(one, "prompts")]
    if not listed:
        raise Inapplicable("no prompts")
    for exchange in listed:
        for place, entry in list_pages.list_entry_places(exchange, "prompts"):
            if complaint := result_schemas.find_mismatch("Prompt", entry, exchange.connection.revision):
                yield place, complaint
