"""Rule `tool-schema-dialect-unknown`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.json_schema import dialects
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.evidence_path import show_value


@rule(
    "tool-schema-dialect-unknown",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="The input schema names an unknown dialect",
    remedy="Set `$schema` of the `inputSchema` to the exact URI of a published dialect, such as 2020-12 or draft-07, "
    "or remove it to use 2020-12.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            inputSchema={"$schema": "https://schemas.example/own", "type": "object"},
        ),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            inputSchema={"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
        ),
    ),
    good=[
        build_tool(),
        build_tool(inputSchema={"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
    ],
    bad=[
        build_tool(inputSchema={"$schema": "https://schemas.example/own", "type": "object"}),
        build_tool(inputSchema={"$schema": 7}),
    ],
)
def tool_schema_dialect_unknown(tool: Tool) -> Iterator[str]:
    """Clients cannot validate a schema in a dialect that they do not know, so name a published one in `$schema`."""
    if dialects.detect_dialect(tool.input_schema if isinstance(tool.input_schema, Mapping) else {}) is None:
        yield f"$schema is {show_value(tool.schema['$schema'])}, a published dialect expected"
