"""Rule `tool-name-length-unusual`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import trim_whitespace, utf16_length


@rule(
    "tool-name-length-unusual",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool name is very short or very long",
    remedy="Use a tool name of 3 to 50 characters that says what the tool does, such as `search-notes`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(description="Searches the notes of the current user.", name="go"),
        build_tool(description="Searches the notes of the current user.", name="search-notes"),
    ),
    good=[build_tool(name="get"), build_tool(name="")],
    bad=[build_tool(name="go"), build_tool(name="x" * 51)],
)
def tool_name_length_unusual(tool: Tool, minimum: int = 3, maximum: int = 50) -> Iterator[str]:
    """A very short name describes nothing; a very long name is cut off in menus and costs tokens in every call."""
    length = utf16_length(tool.name)
    if trim_whitespace(tool.name) and not minimum <= length <= maximum:
        yield f"{length} characters, {minimum} to {maximum} expected"
