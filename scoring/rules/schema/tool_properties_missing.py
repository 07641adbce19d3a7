"""Rule `tool-properties-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import is_object


@rule(
    "tool-properties-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.INFO,
    title="Input schema has no properties member",
    remedy="Add `properties` to the `inputSchema` and declare each parameter in it. If the tool takes no input, set "
    "it to `{}`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema={"type": "object"}),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            inputSchema={"type": "object", "properties": {}},
        ),
    ),
    good=[build_tool(inputSchema={"type": "object", "properties": {}}), build_tool(inputSchema=None)],
    bad=[build_tool(inputSchema={"type": "object"}), build_tool(inputSchema={"type": "object", "properties": None})],
)
def tool_properties_missing(tool: Tool) -> Iterator[str]:
    """An object schema without `properties` accepts anything and documents nothing.

    If the tool takes no input, declare an empty `properties` object.
    """
    if tool.schema.get("type") == "object" and not is_object(tool.schema.get("properties")):
        yield "no properties"
