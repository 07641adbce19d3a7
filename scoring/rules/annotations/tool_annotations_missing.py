"""Rule `tool-annotations-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@rule(
    "tool-annotations-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool has no hints about its effects",
    remedy="Add `annotations.readOnlyHint` to the tool: `true` if the tool changes nothing, else `false`.",
    since="2026.1",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations",
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user."),
        build_tool("list-tags", description="Lists the tags of the current user.", annotations={"readOnlyHint": True}),
    ),
    good=[build_tool(annotations={"readOnlyHint": True})],
    bad=[build_tool(), build_tool(annotations={"title": "Get"}), build_tool(annotations=[])],
)
def tool_annotations_missing(tool: Tool) -> Iterator[str]:
    """Clients request confirmation before they run a tool that may change or destroy data.

    Without `readOnlyHint` or `destructiveHint` they must request it for every call or for none.
    """
    if not any(isinstance(tool.annotations.get(hint), bool) for hint in _HINTS):
        yield f"none of {', '.join(_HINTS)} is set"
