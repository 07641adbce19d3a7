"""Rule `tool-description-long`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import utf16_length


@rule(
    "tool-description-long",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool description is too long",
    remedy="Shorten the `description` of the tool to at most 500 characters. Move details about a parameter to the "
    "`description` of the parameter in `inputSchema`.",
    since="2026.1",
    version=1,
    good=[build_tool(description="x" * 500)],
    bad=[build_tool(description="x" * 501), build_tool(description="\U0001f600" * 255)],
)
def tool_description_long(tool: Tool, maximum: int = 500) -> Iterator[str]:
    """The description is sent with every request, so its length costs tokens in every request.

    Keep the parts that help a model to choose the tool.
    """
    length = utf16_length(tool.description)
    if length > maximum:
        yield f"{length} characters, at most {maximum} expected"
