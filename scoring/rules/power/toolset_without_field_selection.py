"""Rule `toolset-without-field-selection`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset

_SELECTS: Final = frozenset(
    {"columns", "exclude", "expand", "fields", "include", "omit", "projection", "properties", "select"}
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@rule(
    "toolset-without-field-selection",
    scope=Toolset,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="No tool has a parameter to select fields",
    remedy="Add an array parameter `fields` to a tool that returns records. Return only the fields that it names.",
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool(
                "get_note",
                description="Reads a note of the current user.",
                inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            )
        ),
        build_toolset(
            build_tool(
                "get_note",
                description="Reads a note of the current user.",
                inputSchema={
                    "type": "object",
                    "properties": {"id": {"type": "string"}, "fields": {"type": "array", "items": {"type": "string"}}},
                    "required": ["id"],
                },
            )
        ),
    ),
    good=[build_toolset(), build_toolset(build_tool_with_params(fields={"type": "array"}))],
    bad=[build_toolset(build_tool("get_note"))],
)
def toolset_without_field_selection(toolset: Toolset) -> Iterator[str]:
    """Complete records fill a model's context with data that the caller did not request.

    Add a parameter for the fields to return.
    """
    names = (name for tool in toolset.tools for name in tool.properties)
    if toolset.tools and not any(_SELECTS & {word.lower() for word in _WORD.findall(name)} for name in names):
        yield "no tool has a parameter for the fields to return"
