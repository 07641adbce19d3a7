"""Rule `tool-schema-invalid`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-schema-invalid",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A schema of the tool is not valid JSON Schema",
    remedy="Correct the schema so that the meta-schema of its dialect (`$schema`, otherwise 2020-12) accepts it. Keep "
    "it within 64 levels and 50,000 values.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "text"}}},
        ),
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}},
        ),
    ),
    good=[
        build_tool(inputSchema={"type": "object", "properties": {"query": {"type": "string"}}}),
        build_tool(inputSchema=None),
    ],
    bad=[build_tool(inputSchema={"type": "objekt"}), build_tool(outputSchema={"type": "object", "required": "name"})],
)
def tool_schema_invalid(tool: Tool) -> Iterator[tuple[str, str]]:
    """A schema that is not valid in its dialect is read differently by every client, or rejected.

    The dialect is the one named in `$schema`, else 2020-12. References are not resolved.
    """
    for member, complaint in tool.schema_errors.items():
        if complaint:
            yield member, complaint
