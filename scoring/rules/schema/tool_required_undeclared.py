"""Rule `tool-required-undeclared`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.evidence_path import show_value
from scoring.text.javascript import is_object


@rule(
    "tool-required-undeclared",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A required parameter is not declared",
    remedy="Declare each entry of `required` as a property in `properties` of the `inputSchema`, or remove it from "
    "`required`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["text"]},
        ),
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        ),
    ),
    good=[
        build_tool_with_params("query", query={"type": "string"}),
        build_tool(inputSchema={"type": "object", "required": ["query"]}),
    ],
    bad=[
        build_tool_with_params("ghost", query={"type": "string"}),
        build_tool_with_params(7, query={"type": "string"}),
    ],
)
def tool_required_undeclared(tool: Tool, without_properties: bool = False) -> Iterator[str]:
    """Every name in `required` must be in `properties`, because otherwise no call is both valid and meaningful.

    With `without_properties`, a schema that has no properties at all is judged too.
    """
    required = tool.schema.get("required")
    judged = without_properties or is_object(tool.schema.get("properties"))
    if not judged or not isinstance(required, list):
        return
    for name in required:
        if not isinstance(name, str) or name not in tool.properties:
            yield f"{show_value(name)} is required but not a property"
