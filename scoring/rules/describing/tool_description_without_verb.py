"""Rule `tool-description-without-verb`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.vocabularies import verbs


@rule(
    "tool-description-without-verb",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool description does not say what the tool does",
    remedy="Begin the `description` with a verb that states what the tool does, for example `Creates a user` "
    "instead of `User endpoint`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Endpoint of the tags."),
        build_tool("list-tags", description="Lists the tags of the current user."),
    ),
    good=[build_tool(description="Creates a user."), build_tool(description=None)],
    bad=[build_tool(description="User management endpoint."), build_tool(description="Authentic widgets")],
)
def tool_description_without_verb(tool: Tool) -> Iterator[str]:
    """Begin the description with a verb, because a model searches it for what the tool does.
    Write "Creates an account", not "Account endpoint".
    """
    if tool.description and tool.words.isdisjoint(verbs.ACTING):
        yield "no verb such as creates, returns or searches"
