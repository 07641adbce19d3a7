"""Rule `tool-schema-against-dialect`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.listing import build_tool
from scoring.json_schema import dialects
from scoring.results.outcome import Inapplicable, Severity, Tolerated, Undecided
from scoring.scopes.base import Tool
from scoring.text.evidence_path import show_value

_DRAFT_07: Final = "http://json-schema.org/draft-07/schema#"


def _nested(levels: int) -> dict[str, Any]:
    return {"not": _nested(levels - 1)} if levels else {"type": "object"}


@rule(
    "tool-schema-against-dialect",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A schema of the tool is not valid in its dialect",
    remedy="Correct the named keyword so that the schema is valid in its dialect. Set `$schema` to the address "
    "of a published dialect, or omit it for JSON Schema 2020-12.",
    since="2026.2",
    version=1,
    checks=must("TOOL-03", "DE", "basic#schema-validation"),
    fix=(
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "text"}}},
        ),
        build_tool(
            "search-notes",
            description="Searches the notes of the current user.",
            inputSchema={"type": "object", "properties": {"query": {"type": "string"}}},
        ),
    ),
    good=[
        build_tool(inputSchema={"type": "object", "properties": {"query": {"type": "string"}}}),
        build_tool(
            inputSchema={"$schema": _DRAFT_07, "type": "object", "properties": {"mail": {"pattern": r"^[\w-.]+$"}}}
        ),
        build_tool(outputSchema={"$schema": _DRAFT_07, "type": "object", "items": {"$ref": "#/definitions/A B"}}),
    ],
    bad=[
        build_tool(inputSchema={"type": "object", "properties": {"query": {"type": "strng"}}}),
        build_tool(outputSchema={"type": "object", "required": "name"}),
        build_tool(inputSchema={"$schema": "https://schemas.example/own", "type": "object"}),
    ],
    unjudged=[
        build_tool(inputSchema=None),
        build_tool(inputSchema={"type": "object", "\ud800": {}}),
        build_tool(inputSchema=_nested(dialects.MAX_DEPTH)),
    ],
)
def tool_schema_against_dialect(tool: Tool) -> Iterator[Answer]:
    """A schema must be valid in the dialect that it names in `$schema`, or else in 2020-12.

    Clients compile it before they call the tool, and leave the tool out when they cannot. An unpublished dialect is
    tolerated, because no client can tell whether the schema is valid. References are not resolved, and formats, which
    the dialects leave open, are not checked.
    """
    errors = tool.schema_errors
    if not errors:
        raise Inapplicable("no schemas")
    if dialects.TOO_LARGE in errors.values():
        raise Undecided("a schema is too large to be validated")
    for name, schema in tool.schemas.items():
        if dialects.detect_dialect(schema) is None:
            yield Tolerated(f"$schema is {show_value(schema['$schema'])}, a published dialect expected", name)
        elif (complaint := errors[name]) == dialects.NOT_UNICODE:
            raise Undecided(complaint)
        elif complaint:
            yield name, complaint
