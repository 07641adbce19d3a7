"""Rule `tool-name-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Level, Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import trim_whitespace


@rule(
    "tool-name-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="Tool has no name",
    remedy="Set `name` of the tool to a string of 1 to 128 letters, digits, `_`, `-` or `.`, for example `get_record`.",
    since="2026.1",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools",
    fix=(
        build_tool(description="Lists the tags of the current user.", name=UNDEFINED),
        build_tool(description="Lists the tags of the current user.", name="list_tags"),
    ),
    good=[build_tool(name="get-record")],
    bad=[build_tool(name=None), build_tool(name=""), build_tool(name=7)],
)
def tool_name_missing(tool: Tool, blank: bool = False) -> Iterator[str]:
    """A tool without a name cannot be called, and strict clients reject the whole list because of it.

    With `blank`, a name that consists of white space counts as missing.
    """
    if not (trim_whitespace(tool.name) if blank else tool.name):
        yield "no name"
