"""Rule `tool-output-schema-missing`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-output-schema-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool does not describe its structured output",
    remedy="Add `outputSchema`, a JSON Schema object that describes the result, to the tool. Return a result that "
    "matches it in `structuredContent`.",
    since="2026.1",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools",
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user."),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            outputSchema={"type": "object", "properties": {"tags": {"type": "array"}}},
        ),
    ),
    good=[build_tool(outputSchema={"type": "object"})],
    bad=[build_tool(), build_tool(outputSchema=True)],
)
def tool_output_schema_missing(tool: Tool) -> Iterator[str]:
    """With an output schema a client can validate the result of a call.

    It can pass the result on without a model.
    """
    if not isinstance(tool.get("outputSchema"), Mapping):
        yield "no outputSchema"
