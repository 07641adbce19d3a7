"""Rule `tool-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-description-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="Tool has no description",
    remedy="Add a `description` to the tool that states what the tool does and when to use it, for example "
    "`Retrieves a user profile by its ID`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description=UNDEFINED),
        build_tool("list-tags", description="Lists the tags of the current user."),
    ),
    good=[build_tool(description="Retrieves a user profile by its ID.")],
    bad=[build_tool(description=None), build_tool(description="\ufeff \n"), build_tool(description=7)],
)
def tool_description_missing(tool: Tool) -> Iterator[str]:
    """A model chooses a tool by its description; without one it must guess from the name."""
    if not tool.description:
        yield "no description"
