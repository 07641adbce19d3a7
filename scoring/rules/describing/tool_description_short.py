"""Rule `tool-description-short`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import utf16_length


@rule(
    "tool-description-short",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool description is too short",
    remedy="Extend the `description` of the tool to at least 20 characters. State what the tool does and when to "
    "use it.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Gets tags"),
        build_tool("list-tags", description="Lists the tags of the current user, with their IDs."),
    ),
    good=[build_tool(description="Retrieves a user profile by its ID."), build_tool(description=None)],
    bad=[build_tool(description="Gets it")],
)
def tool_description_short(tool: Tool, minimum: int = 20) -> Iterator[str]:
    """A description of a few words does not state when the tool applies.
    State what it does and when to use it.
    """
    length = utf16_length(tool.description)
    if 0 < length < minimum:
        yield f"{length} characters, at least {minimum} expected"
