"""Rule `tool-output-schema-not-object`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Tool


@rule(
    "tool-output-schema-not-object",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="Output schema is not of type object",
    remedy='Set `outputSchema` to a JSON Schema object with `"type": "object"` at its root, or omit it. Put a '
    "list or another value into a member of that object.",
    since="2026.2",
    version=1,
    checks=must("TOOL-04", "CD", "server/tools#output-schema"),
    fix=(
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            outputSchema={"type": "array", "items": {"type": "string"}},
        ),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            outputSchema={"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}},
        ),
    ),
    good=[build_tool(outputSchema={"type": "object"})],
    bad=[build_tool(outputSchema={"type": "array"}), build_tool(outputSchema=None), build_tool(outputSchema={})],
    unjudged=[build_tool()],
)
def tool_output_schema_not_object(tool: Tool) -> Iterator[Answer]:
    """In 2025-06-18 and 2025-11-25 `outputSchema` has `"type": "object"` at its root.

    Clients of those revisions reject any other root, and the tool with it. Put a list into an object with one member.
    From 2026-07-28 on the output may have any type.
    """
    schema = tool.get("outputSchema")
    if schema is UNDEFINED:
        raise Inapplicable("no outputSchema")
    if not isinstance(schema, Mapping):
        yield "outputSchema is not an object"
    elif schema.get("type") != "object":
        yield 'the root of outputSchema has no "type": "object"'
