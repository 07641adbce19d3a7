"""Rule `schema-pattern-repeated`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_tool_with_params, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Toolset
from scoring.text.evidence_path import clip_text
from scoring.text.javascript import is_truthy
from scoring.text.words import parse_word_list

_CONSTRAINTS: Final = parse_word_list(
    """
minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format enum minItems maxItems
uniqueItems
    """
)


@rule(
    "schema-pattern-repeated",
    scope=Toolset,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="The same parameter schema is repeated",
    remedy="Define the structure once in the server's source. In each `inputSchema`, put it into `$defs` and refer to "
    "it with `$ref` from the parameter.",
    since="2026.1",
    version=1,
    fix=(
        build_toolset(
            build_tool(
                "list-events",
                description="Lists the events between two days.",
                inputSchema={
                    "type": "object",
                    "properties": {
                        "start": {"type": "object", "properties": {"day": {"type": "string"}}},
                        "end": {"type": "object", "properties": {"day": {"type": "string"}}},
                    },
                },
            )
        ),
        build_toolset(
            build_tool(
                "list-events",
                description="Lists the events between two days.",
                inputSchema={
                    "type": "object",
                    "properties": {"start": {"$ref": "#/$defs/time"}, "end": {"$ref": "#/$defs/time"}},
                    "$defs": {"time": {"type": "object", "properties": {"day": {"type": "string"}}}},
                },
            )
        ),
    ),
    good=[
        build_toolset(
            build_tool_with_params(a={"type": "object", "properties": {"x": {}}}),
            build_tool_with_params(b={"type": "object", "properties": {"y": {}}}),
        )
    ],
    bad=[
        build_toolset(
            build_tool_with_params(a={"type": "string", "minLength": 1, "maxLength": 9}),
            build_tool_with_params(b={"maxLength": 9, "minLength": 1, "type": "string"}),
        )
    ],
)
def schema_pattern_repeated(toolset: Toolset) -> Iterator[Answer]:
    """Copies of one structure in several tools become inconsistent over time.

    Define the structure once in the source; in the schema, use `$ref` to one definition.
    """
    shapes = [
        (tool, name, _form(schema))
        for tool in toolset.tools
        for name, schema in tool.properties.items()
        if _is_complex(schema)
    ]
    counts = Counter(form for _, _, form in shapes)
    for tool, name, form in shapes:
        if counts[form] > 1:
            yield tool, f"the schema of {clip_text(name)} occurs {counts[form]} times"


def _is_complex(schema: Json) -> bool:
    if not isinstance(schema, dict) or not is_truthy(schema.get("type")):
        return False
    items = schema.get("items")
    if _has_properties(schema) or (
        schema.get("type") == "array" and isinstance(items, dict) and _has_properties(items)
    ):
        return True
    return len(_CONSTRAINTS & schema.keys()) > 1


def _has_properties(schema: Mapping[str, Json]) -> bool:
    return schema.get("type") == "object" and is_truthy(schema.get("properties"))


def _form(value: Json) -> str:
    """The value as text in which the order of members and of list items does not matter."""
    if isinstance(value, dict):  # loops, because each level of a comprehension would be two levels of recursion
        members = []
        for name in sorted(value):
            members.append(json.dumps(name) + ":" + _form(value[name]))  # noqa: PERF401
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        items = []
        for item in value:
            items.append(_form(item))  # noqa: PERF401
        return "[" + ",".join(sorted(items)) + "]"
    return json.dumps(value)
