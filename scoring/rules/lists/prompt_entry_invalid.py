"""Rule `prompt-entry-invalid`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring import pages, shapes
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, must, rule

_RIGHT: Final[dict[str, Any]] = {"name": "sum", "arguments": [{"name": "day", "required": True}]}


@rule(
    "prompt-entry-invalid",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A listed prompt does not fit the published schema",
    since="2026.2",
    version=1,
    checks=must("PROMPT-02", "ABCDE", "schema#prompt"),
    good=[
        conversation(legacy("list-prompts", result={"prompts": [_RIGHT]})),
        conversation(legacy("list-prompts", revision="A", result={"prompts": [{**_RIGHT, "title": 7}]})),
    ],
    bad=[
        conversation(legacy("list-prompts", result={"prompts": ["sum"]})),
        conversation(legacy("list-prompts", result={"prompts": [_RIGHT, {"name": None}]})),
        conversation(legacy("list-prompts", result={"prompts": [{**_RIGHT, "arguments": {"day": "string"}}]})),
    ],
    unjudged=[
        conversation(legacy("list-prompts", result={"prompts": []})),
        conversation(legacy("list-prompts", result={"prompts": None})),
        conversation(legacy("ping", result={})),
    ],
)
def prompt_entry_invalid(talk: Conversation) -> Iterator[Answer]:
    """Every listed prompt is an object with the members that the schema of the revision gives it.

    The official clients validate a page of the list as a whole, so that one prompt without a name, or with arguments
    that are no array, takes all the others with it. Each prompt is judged alone, under the revision that was agreed on,
    and the finding names the first member that does not fit.
    """
    listed = [one for one in talk.results("list-prompts") if pages.entries(one, "prompts")]
    if not listed:
        raise Inapplicable("no prompts")
    for exchange in listed:
        for place, entry in pages.places(exchange, "prompts"):
            if complaint := shapes.complaint("Prompt", entry, exchange.connection.revision):
                yield place, complaint
