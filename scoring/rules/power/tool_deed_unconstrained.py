"""Rule `tool-deed-unconstrained`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.canonical import Json
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset

_LIMITS = ("maxLength", "enum", "pattern", "format", "const", "$ref", "anyOf", "oneOf")


def _schema(**keywords: object) -> dict[str, object]:
    return {"type": "object", "properties": {"text": {"type": "string", **keywords}}}


@rule(
    "tool-deed-unconstrained",
    scope=Toolset,
    reads="listing",
    severity=Severity.WARNING,
    title="A tool that changes data accepts any string",
    remedy="Add `maxLength`, `enum`, `pattern`, `format` or `const` to each string parameter of the tool, for example "
    '`"maxLength": 200`.',
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool(
                "send_note",
                description="Sends a note to the user.",
                inputSchema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            )
        ),
        build_toolset(
            build_tool(
                "send_note",
                description="Sends a note to the user.",
                inputSchema={
                    "type": "object",
                    "properties": {"text": {"type": "string", "maxLength": 2000}},
                    "required": ["text"],
                },
            )
        ),
    ),
    good=[
        build_toolset(build_tool("send_note", inputSchema=_schema(maxLength=80))),
        build_toolset(build_tool("get_note", inputSchema=_schema())),
    ],
    bad=[build_toolset(build_tool("send_note", inputSchema=_schema()))],
)
def tool_deed_unconstrained(toolset: Toolset) -> Iterator[Answer]:
    """Limits on parameters restrict what a tool can do when a model was manipulated.

    Give string parameters of tools that write, delete or administer a maxLength, an enum, a pattern or a format.
    """
    for one, authority in toolset.judged:
        free = [name for name, schema in one.properties.items() if _is_free(schema)] if authority.changes_state else []
        if free:
            have = "string parameters have" if len(free) > 1 else "string parameter has"
            yield one, f"the tool is classified as {authority.value}, and {len(free)} {have} no limit"


def _is_free(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "string" and not any(key in schema for key in _LIMITS)
