"""Rule `tool-input-schema-not-object`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.evidence_path import clip_text
from scoring.text.javascript import is_object


@rule(
    "tool-input-schema-not-object",
    scope=Tool,
    reads="listing",
    severity=Severity.INFO,
    title="Input schema is not of type object",
    remedy='Make `inputSchema` a JSON object with `"type": "object"` at its root, as a string and not as an array.',
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema={}),
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema={"type": "object"}),
    ),
    good=[build_tool(inputSchema={"type": "object"}), build_tool(inputSchema=UNDEFINED)],
    bad=[build_tool(inputSchema={"type": ["object"]}), build_tool(inputSchema={}), build_tool(inputSchema=[])],
)
def tool_input_schema_not_object(tool: Tool) -> Iterator[str]:
    """Arguments are sent as a JSON object, so the root of the input schema needs `"type": "object"`."""
    if is_object(tool.input_schema) and tool.schema.get("type") != "object":
        yield f'type is {clip_text(json.dumps(tool.schema.get("type")))}, "object" expected'
