"""Rule `tool-reads-and-writes`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.authority import Authority
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-reads-and-writes",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A tool both reads and writes",
    remedy="Split the tool in two: one tool with only the reading actions, and one tool with only the actions that "
    "change data.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "manage-notes",
            description="Lists or creates notes.",
            inputSchema={
                "type": "object",
                "properties": {"action": {"enum": ["list", "create"]}},
                "required": ["action"],
            },
        ),
        build_tool(
            "read-notes",
            description="Lists or reads notes.",
            inputSchema={"type": "object", "properties": {"action": {"enum": ["list", "get"]}}, "required": ["action"]},
        ),
    ),
    good=[
        build_tool("get_note"),
        build_tool_with_params(action={"enum": ["list", "get"]}),
        build_tool_with_params(action={"enum": ["create", "update"]}),
    ],
    bad=[build_tool_with_params(action={"enum": ["list", "create"]}), build_tool("get_or_create_note")],
)
def tool_reads_and_writes(tool: Tool) -> Iterator[str]:
    """A user cannot allow only the reading actions of a tool that also writes.

    Offer separate tools for reading and writing.
    """
    deeds = tool.actions
    if Authority.READ in deeds and any(deed.changes_state for deed in deeds):
        yield "the tool has both reading and changing actions"
