"""Rule `tool-hints-contradictory`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-hints-contradictory",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool declares itself read-only and destructive",
    remedy="Set `readOnlyHint` to `false` if the tool changes data. Omit `destructiveHint` if it only reads.",
    since="2026.3",
    version=1,
    fix=(
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            annotations={"readOnlyHint": True, "destructiveHint": True},
        ),
        build_tool("list-tags", description="Lists the tags of the current user.", annotations={"readOnlyHint": True}),
    ),
    good=[
        build_tool(annotations={"readOnlyHint": True, "destructiveHint": False}),
        build_tool(annotations={"readOnlyHint": False, "destructiveHint": True}),
        build_tool(annotations={"destructiveHint": True}),
        build_tool(annotations={"readOnlyHint": "true", "destructiveHint": True}),
    ],
    bad=[build_tool(annotations={"readOnlyHint": True, "destructiveHint": True})],
)
def tool_hints_contradictory(tool: Tool) -> Iterator[str]:
    """By the published schema `destructiveHint` has a meaning only when `readOnlyHint` is false.

    A client that reads `readOnlyHint` first calls the tool without confirmation, and one that reads `destructiveHint`
    asks the user before each call.
    """
    if tool.annotations.get("readOnlyHint") is True and tool.annotations.get("destructiveHint") is True:
        yield "readOnlyHint and destructiveHint are both true"
