"""Rule `tool-header-annotation-invalid`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.json_schema.subschemas import Subschema, list_subschemas
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.base import Tool

_KEYWORD: Final = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PRIMITIVE: Final = frozenset({"integer", "string", "boolean"})
_REGION: Final = {"type": "string", _KEYWORD: "Region"}


@rule(
    "tool-header-annotation-invalid",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A parameter cannot be sent in the header that it names",
    remedy="Set `x-mcp-header` to an HTTP header token that is unique in the tool. Use it only on a parameter of "
    "type `string`, `integer` or `boolean` that is reached from the root through `properties` alone.",
    since="2026.2",
    version=1,
    checks=must("TOOL-10", "E", "server/tools#x-mcp-header"),
    fix=(
        build_tool(
            "list-stores",
            description="Lists the stores of a region.",
            inputSchema={"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Re gion"}}},
        ),
        build_tool(
            "list-stores",
            description="Lists the stores of a region.",
            inputSchema={"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
        ),
    ),
    good=[
        build_tool_with_params(region=_REGION, dry={"type": "boolean", _KEYWORD: "Dry-Run"}),
        build_tool_with_params(place={"type": "object", "properties": {"region": _REGION}}),
    ],
    bad=[
        build_tool_with_params(region={**_REGION, _KEYWORD: ""}),
        build_tool_with_params(region={**_REGION, _KEYWORD: "Re gion"}),
        build_tool_with_params(region={**_REGION, _KEYWORD: 7}),
        build_tool_with_params(region={**_REGION, "type": "number"}),
        build_tool_with_params(region={**_REGION, "type": ["string", "object"]}),
        build_tool_with_params(region={**_REGION, "type": ["string", "null"]}),
        build_tool_with_params(region={_KEYWORD: "Region"}),
        build_tool_with_params(first=_REGION, second={**_REGION, _KEYWORD: "REGION"}),
        build_tool_with_params(regions={"type": "array", "items": _REGION}),
        build_tool_with_params(region={"anyOf": [_REGION, {"type": "null"}]}),
        build_tool(inputSchema={"type": "object", _KEYWORD: "Region"}),
    ],
    unjudged=[
        build_tool_with_params(region={"type": "string"}),
        build_tool(inputSchema=None),
        build_tool_with_params(region={"const": {_KEYWORD: ""}}),
    ],
)
def tool_header_annotation_invalid(tool: Tool) -> Iterator[Answer]:
    """`x-mcp-header` names the header for a string, an integer or a boolean, by a token that is used once.

    The parameter is reached from the root through `properties` alone, not through arrays, unions or references. A
    client over HTTP leaves out a tool that violates this, without a message to its user. A parameter that may also be
    null, or has no type, is tolerated: the specification does not forbid it, but the official clients reject it.
    """
    marked = [position for position in list_subschemas(tool.schema) if _KEYWORD in position.schema]
    if not marked:
        raise Inapplicable("no parameter names a header")
    seen: set[str] = set()
    for position in marked:
        header = position.schema[_KEYWORD]
        name = header.lower() if isinstance(header, str) else ""
        if complaint := _complaint(position, header) or (f"header {name} is used twice" if name in seen else ""):
            yield position.name, complaint
        elif not _is_plain(position.schema.get("type")):
            yield Tolerated("the parameter has no single primitive type", position.name)
        seen.add(name)


def _complaint(position: Subschema, header: Json) -> str:
    if not position.reachable:
        return f"{_KEYWORD} is not on a parameter that is reached through properties alone"
    if not isinstance(header, str) or not _TOKEN.fullmatch(header):
        return f"{_KEYWORD} is not a token for a header name"
    kind = position.schema.get("type", [])
    kinds = kind if isinstance(kind, list) else [kind]
    allowed = all(isinstance(one, str) and (one in _PRIMITIVE or one == "null") for one in kinds)
    return "" if allowed and kinds != ["null"] else "the parameter is not a string, an integer or a boolean"


def _is_plain(kind: Json) -> bool:
    return isinstance(kind, str) and kind in _PRIMITIVE
