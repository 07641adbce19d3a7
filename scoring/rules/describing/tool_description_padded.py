"""Rule `tool-description-padded`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.analysis.own_text import list_own_texts
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool, Toolset
from scoring.text.javascript import utf16_length


@rule(
    "tool-description-padded",
    scope=Toolset,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool description has too little text of its own",
    remedy="Write at least 20 characters about this tool only in its `description`: what it does and when to use "
    "it. Text that it repeats or shares with other tools does not count.",
    since="2026.4",
    version=1,
    fix=(
        build_toolset(build_tool("list-tags", description="Gets tags.")),
        build_toolset(build_tool("list-tags", description="Lists the tags of the current user.")),
    ),
    good=[
        build_toolset(build_tool(description="Retrieves a user profile by its ID.")),
        build_toolset(build_tool(description=None)),
    ],
    bad=[
        build_toolset(build_tool(description="Gets it")),
        build_toolset(build_tool(description="Gets it. " + "Very useful. " * 40)),
    ],
)
def tool_description_padded(toolset: Toolset, minimum: int = 20) -> Iterator[tuple[Tool, str]]:
    """A description of a few words does not state when the tool applies.

    Repeated text does not help: passages of eight words that a description repeats, or shares with another tool, do not
    count. State what the tool does and when to use it.
    """
    for tool, text in zip(toolset.tools, list_own_texts(toolset), strict=True):
        length = min(utf16_length(tool.description), utf16_length(text))
        if tool.description and length < minimum:
            yield tool, f"{length} characters about this tool, at least {minimum} expected"
