"""Rule `tool-title-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import is_truthy


@rule(
    "tool-title-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool has no title",
    remedy="Set `title` and `annotations.title` of the tool to the same short text for users, for example `Get a "
    "record`.",
    since="2026.1",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/tools",
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user."),
        build_tool(
            "list-tags",
            description="Lists the tags of the current user.",
            title="List tags",
            annotations={"title": "List tags"},
        ),
    ),
    good=[build_tool(title="Get a record"), build_tool(annotations={"title": "Get a record"})],
    bad=[build_tool(), build_tool(title=" ")],
)
def tool_title_missing(tool: Tool, literal: bool = False) -> Iterator[str]:
    """Clients show the title, in `title` or `annotations.title`, where a user chooses or approves a tool.

    The name is an identifier for programs. `literal` reads only the annotation, as one published reference does.
    """
    if literal:
        if not is_truthy(tool.annotations.get("title")):
            yield "no annotations.title"
        return
    titles = (tool.get("title"), tool.annotations.get("title"))
    if not any(isinstance(title, str) and title.strip() for title in titles):
        yield "neither title nor annotations.title is set"
