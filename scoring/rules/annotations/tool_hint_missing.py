"""Rule `tool-hint-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-hint-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool lacks a hint about its effects",
    remedy="Add `annotations.readOnlyHint` and `annotations.idempotentHint` to the tool, each `true` or `false`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user."),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            annotations={"readOnlyHint": True, "idempotentHint": True},
        ),
    ),
    good=[build_tool(annotations={"readOnlyHint": False})],
    bad=[build_tool(), build_tool(annotations={"readOnlyHint": None})],
)
def tool_hint_missing(tool: Tool, hint: str = "readOnlyHint", literal: bool = False) -> Iterator[str]:
    """Clients use hints to decide whether a call needs confirmation and whether a failed call may be repeated.

    `literal` accepts any value, also null, as the published reference does.
    """
    value = tool.annotations.get(hint, UNDEFINED)
    if value is UNDEFINED if literal else not isinstance(value, bool):
        yield f"no {hint}"
