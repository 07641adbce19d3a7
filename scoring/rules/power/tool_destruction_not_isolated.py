"""Rule `tool-destruction-not-isolated`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.authority import Authority
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-destruction-not-isolated",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A tool combines destructive actions with others",
    remedy="Move the destructive or administrative actions to a separate tool, or set `annotations.destructiveHint` "
    "of this tool to `true`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "edit-note",
            description="Creates or deletes a note.",
            inputSchema={
                "type": "object",
                "properties": {"action": {"enum": ["create", "delete"]}},
                "required": ["action"],
            },
        ),
        build_tool(
            "edit-note",
            description="Creates or changes a note.",
            inputSchema={
                "type": "object",
                "properties": {"action": {"enum": ["create", "update"]}},
                "required": ["action"],
            },
        ),
    ),
    good=[build_tool("delete_note"), build_tool_with_params(action={"enum": ["list", "create"]})],
    bad=[build_tool_with_params(action={"enum": ["create", "delete"]})],
)
def tool_destruction_not_isolated(tool: Tool) -> Iterator[str]:
    """A deletion that is one of several actions of a tool can be neither disabled nor confirmed separately.

    Offer it as a separate tool, or at least mark the tool with `destructiveHint: true`.
    """
    deeds = set(tool.actions)
    grave = deeds & {Authority.DESTRUCTIVE, Authority.ADMIN}
    if grave and deeds - grave and tool.annotations.get("destructiveHint") is not True:
        yield "the tool has destructive or administrative actions among others, and destructiveHint is not true"
