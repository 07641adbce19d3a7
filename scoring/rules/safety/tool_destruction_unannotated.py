"""Rule `tool-destruction-unannotated`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.authority import Authority, classify_actions, classify_tool
from evidence.canonical import Json
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-destruction-unannotated",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Destructive tool has no destructiveHint",
    remedy="Add `annotations.destructiveHint` to the tool: `true` if it can destroy data, `false` if it makes only "
    "additive changes.",
    since="2026.1",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations",
    fix=(
        build_tool(
            "delete_note",
            description="Deletes a note. This cannot be undone.",
            inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        ),
        build_tool(
            "delete_note",
            description="Deletes a note. This cannot be undone.",
            inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            annotations={"destructiveHint": True},
        ),
    ),
    good=[
        build_tool("delete_note", annotations={"destructiveHint": True}),
        build_tool("clear_selection", annotations={"destructiveHint": False}),
        build_tool("list_deleted_notes"),
        build_tool("create_note"),
        build_tool_with_params(action={"enum": ["create", "list"]}),
    ],
    bad=[
        build_tool("delete_note"),
        build_tool("delete_note", annotations={"readOnlyHint": False, "destructiveHint": "yes"}),
        build_tool("notes_purge", annotations=[]),
        build_tool_with_params(action={"enum": ["create", "delete"]}),
    ],
)
def tool_destruction_unannotated(tool: Tool) -> Iterator[str]:
    """A client that requests confirmation before data is destroyed reads `destructiveHint`.

    This is check SEC-009 of the security lane that mcptest publishes. A verb such as delete, drop or purge in the name
    counts, and so does such a value of a parameter `action`. Set `destructiveHint: true`, or `false` when removed data
    can be restored.
    """
    hints = tool.annotations
    if isinstance(hints.get("destructiveHint"), bool) or hints.get("readOnlyHint") is True:
        return
    unhinted: dict[str, Json] = {"name": tool.name, "inputSchema": tool.schema}
    if classify_tool(unhinted).authority is Authority.DESTRUCTIVE:
        yield "the name has a destructive verb, and there is no destructiveHint"
    elif Authority.DESTRUCTIVE in classify_actions(unhinted):
        yield "one of the actions is destructive, and there is no destructiveHint"
