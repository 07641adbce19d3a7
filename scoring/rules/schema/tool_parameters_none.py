"""Rule `tool-parameters-none`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import is_object


@rule(
    "tool-parameters-none",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool declares no parameters",
    remedy="Declare each parameter in `properties` of the `inputSchema`. If the tool has no parameters, set "
    "`properties` to `{}` and `additionalProperties` to `false`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {}},
        ),
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        ),
    ),
    good=[build_tool_with_params(query={"type": "string"}), build_tool(inputSchema=None)],
    bad=[build_tool(inputSchema={"type": "object", "properties": {}}), build_tool(inputSchema={"type": "object"})],
)
def tool_parameters_none(tool: Tool, closed: bool = False) -> Iterator[str]:
    """A schema without properties does not describe the input.

    Often the parameters were forgotten. With `closed`, a tool without parameters may declare it with
    `"additionalProperties": false`, as the specification recommends.
    """
    if not is_object(tool.input_schema) or tool.properties:
        return
    if closed and tool.schema.get("additionalProperties") is False:
        return
    yield "no properties"
