"""Rule `tool-input-schema-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import is_object


@rule(
    "tool-input-schema-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool has no input schema",
    remedy='Add `inputSchema` to the tool: a JSON object with `"type": "object"` that declares the parameters in '
    "`properties`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema=UNDEFINED),
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema={"type": "object"}),
    ),
    good=[build_tool(inputSchema={"type": "object"}), build_tool(inputSchema=[])],
    bad=[build_tool(inputSchema=UNDEFINED), build_tool(inputSchema=None), build_tool(inputSchema=True)],
)
def tool_input_schema_missing(tool: Tool) -> Iterator[str]:
    """Without `inputSchema` neither a client nor a model knows which arguments the tool takes.

    The protocol requires it.
    """
    if not is_object(tool.input_schema):
        yield "inputSchema is missing or not an object"
