"""Rule `tool-workflow-unguided`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.analysis import tool_mentions
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset
from scoring.text.javascript import compile_pattern
from scoring.vocabularies import phrases

_KEYWORDS: Final = frozenset(word for word in phrases.WORKFLOW if " " not in word)
_GUIDANCE: Final = compile_pattern(
    r"\b(?:prior to|in advance)\b|\b(?:prefer|invoke|requires?)\s+\w|\buse\s+\w+\s+(?:for|to|when)"
    r"|\bcall\s+\w+\s+(?:to|first|before|after)|\bsee\s+\w+\s+for|\brun\s+\w+\s+(?:first|before|after)"
)


@rule(
    "tool-workflow-unguided",
    scope=Toolset,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool description does not relate the tool to others",
    remedy="State in the `description` what to call before or after the tool, or which tool to use instead, for "
    "example `Call list_users first`.",
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool(
                "delete-user",
                description="Deletes a user by ID.",
                inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            )
        ),
        build_toolset(
            build_tool(
                "delete-user",
                description="Deletes a user by ID. Call list-users first.",
                inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            )
        ),
    ),
    good=[
        build_toolset(build_tool(description="Updates a record. Call get-record first.")),
        build_toolset(build_tool(description=None)),
    ],
    bad=[build_toolset(build_tool(name="get", description="Reads."), build_tool(name="x", description="Widgets."))],
)
def tool_workflow_unguided(toolset: Toolset, literal: bool = False) -> Iterator[Answer]:
    """State what to call before or after the tool, or which tool to use instead.

    Otherwise a model learns it from failed calls. The whole name of another tool counts. `literal` finds names anywhere
    in the text, as the published reference does, so that `get` is found in "widget".
    """
    mentions = (
        tool_mentions.SubstringMentions(tool.name for tool in toolset.tools)
        if literal
        else tool_mentions.WordMentions(toolset.tools)
    )
    for member in toolset.tools:
        if (
            not member.description
            or not member.words.isdisjoint(_KEYWORDS)
            or _GUIDANCE.search(member.item.description)
        ):
            continue
        if not mentions.another(member):
            yield member, "the description names no step before or after the tool, and no alternative"
