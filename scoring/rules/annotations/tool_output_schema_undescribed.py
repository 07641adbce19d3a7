"""Rule `tool-output-schema-undescribed`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text import javascript
from scoring.text.javascript import is_object, is_truthy


@rule(
    "tool-output-schema-undescribed",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Output schema is not fully described",
    remedy="Add `type` and `description` to the root of `outputSchema`, and a `description` to each member of its "
    "`properties`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            outputSchema={"type": "object", "properties": {"tags": {"type": "array"}}},
        ),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            outputSchema={
                "type": "object",
                "description": "Tags of the user.",
                "properties": {"tags": {"type": "array", "description": "Names of the tags."}},
            },
        ),
    ),
    good=[build_tool(), build_tool(outputSchema={"type": "array", "description": "d"})],
    bad=[
        build_tool(outputSchema={"type": "object"}),
        build_tool(outputSchema={"description": "d"}),
        build_tool(outputSchema={"type": "object", "description": "d", "properties": {"a": {}}}),
    ],
)
def tool_output_schema_undescribed(tool: Tool) -> Iterator[str]:
    """An output schema is useful when it states its type, a description, and a description of each member."""
    schema = tool.get("outputSchema")
    if not is_object(schema):
        return
    members = schema if isinstance(schema, dict) else {}
    if not is_truthy(members.get("type")):
        yield "outputSchema has no type"
    if not is_truthy(members.get("description")):
        yield "outputSchema has no description"
    properties = javascript.object_entries(members.get("properties"))
    bare = [
        name
        for name, value in properties.items()
        if isinstance(value, dict) and not is_truthy(value.get("description"))
    ]
    if bare:
        have = "has" if len(bare) == 1 else "have"
        yield f"{len(bare)} of {len(properties)} members {have} no description"
