"""Rule `tool-deed-without-required`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset

_SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


@rule(
    "tool-deed-without-required",
    scope=Toolset,
    reads="listing",
    severity=Severity.WARNING,
    title="A tool that changes data requires no parameter",
    remedy='List every parameter that the tool needs in `required` of its `inputSchema`, for example `"required": '
    '["id"]`.',
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool(
                "delete_note",
                description="Deletes a note. This cannot be undone.",
                inputSchema={"type": "object", "properties": {"id": {"type": "string"}}},
            )
        ),
        build_toolset(
            build_tool(
                "delete_note",
                description="Deletes a note. This cannot be undone.",
                inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            )
        ),
    ),
    good=[
        build_toolset(),
        build_toolset(build_tool("get_note", inputSchema=_SCHEMA)),
        build_toolset(build_tool("delete_note", inputSchema={**_SCHEMA, "required": ["id"]})),
    ],
    bad=[build_toolset(build_tool("delete_note", inputSchema=_SCHEMA))],
)
def tool_deed_without_required(toolset: Toolset) -> Iterator[Answer]:
    """A tool that writes or deletes and requires no parameter can be called without arguments.

    Its defaults then decide the effect. List the necessary parameters in `required`.
    """
    for one, authority in toolset.judged:
        if authority.changes_state and one.properties and not one.schema.get("required"):
            yield one, f"the tool is classified as {authority.value}, and none of its parameters is required"
