"""Rule `tool-schema-deep`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text import javascript

_UNIONS: Final = ("oneOf", "anyOf", "allOf")
_NESTED: Final = ("properties", "items", "additionalProperties")


@rule(
    "tool-schema-deep",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Input schema is deeply nested",
    remedy="Flatten the `inputSchema` to at most 4 levels of `properties`, `items` and `additionalProperties`, or "
    "split the tool.",
    since="2026.1",
    version=1,
    good=[build_tool(), build_tool_with_params(a={"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [{}]}]}]}]})],
    bad=[build_tool_with_params(a={"items": {"items": {"items": {"items": {"type": "string"}}}}})],
)
def tool_schema_deep(tool: Tool, maximum: int = 4) -> Iterator[str]:
    """Models make errors in deeply nested structures.

    Every level of properties, items or additional properties counts. Flatten the input, or split the tool.
    """
    depth = _depth(tool.schema)
    if depth > maximum:
        yield f"{depth} levels, at most {maximum} expected"


def _depth(schema: Mapping[str, Json]) -> int:
    deepest, waiting = 0, [(0, schema)]
    while waiting:
        depth, part = waiting.pop()
        deepest = max(deepest, depth)
        for keyword, value in part.items():
            if keyword in _UNIONS and isinstance(value, list):
                waiting.extend((depth, branch) for branch in value if isinstance(branch, dict))
            elif keyword in _NESTED:
                waiting.extend((depth + 1, inner) for inner in _inner(keyword, value) if isinstance(inner, dict))
    return deepest


def _inner(keyword: str, value: Json) -> list[Json]:
    if keyword == "properties":
        return list(javascript.object_entries(value).values())
    return value if isinstance(value, list) else [value]
