"""Rule `tool-required-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool

_NONE: Final = "there are parameters, and none is required"


@rule(
    "tool-required-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.INFO,
    title="No parameter is marked as required",
    remedy="List in `required` of the `inputSchema` every parameter that a call needs. If all are optional, set "
    "`required` to `[]`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}, "required": []},
        ),
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        ),
    ),
    good=[build_tool_with_params("query", query={"type": "string"}), build_tool_with_params()],
    bad=[build_tool_with_params(query={"type": "string"})],
)
def tool_required_missing(tool: Tool, allow_none: bool = False) -> Iterator[str]:
    """When no parameter is required, a model may omit one that the call needs.

    List the necessary parameters in `required`. With `allow_none`, an empty list declares that there are none.
    """
    required = tool.schema.get("required")
    if tool.properties and not (isinstance(required, list) and (required or allow_none)):
        yield "there are parameters, and required is missing" if allow_none else _NONE
