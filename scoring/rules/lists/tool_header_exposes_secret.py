"""Rule `tool-header-exposes-secret`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.json_schema.subschemas import list_subschemas
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Tool
from scoring.text.secret_names import is_secret_name

_KEYWORD: Final = "x-mcp-header"


@rule(
    "tool-header-exposes-secret",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A secret parameter is sent in a header",
    remedy="Remove `x-mcp-header` from the schema of each parameter that takes a password, a token or a key.",
    since="2026.2",
    version=1,
    checks=should("TOOL-11", "E", "server/tools#x-mcp-header"),
    fix=(
        build_tool(
            "list-stores",
            description="Lists the stores of a region.",
            inputSchema={
                "type": "object",
                "properties": {
                    "region": {"type": "string", "x-mcp-header": "Region"},
                    "token": {"type": "string", "x-mcp-header": "Token"},
                },
            },
        ),
        build_tool(
            "list-stores",
            description="Lists the stores of a region.",
            inputSchema={
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "token": {"type": "string"}},
            },
        ),
    ),
    good=[
        build_tool_with_params(region={"type": "string", _KEYWORD: "Region"}, token={"type": "string"}),
        build_tool_with_params(max_tokens={"type": "integer", _KEYWORD: "Limit"}),
    ],
    bad=[
        build_tool_with_params(api_key={"type": "string", _KEYWORD: "Key"}),
        build_tool_with_params(value={"type": "string", _KEYWORD: "Access-Token"}),
        build_tool_with_params(value={"type": "string", "format": "password", _KEYWORD: "Value"}),
    ],
    unjudged=[build_tool_with_params(token={"type": "string"})],
)
def tool_header_exposes_secret(tool: Tool) -> Iterator[Answer]:
    """A password, a token or a key should not be sent in a header.

    Proxies log headers and gateways read them, and `x-mcp-header` sends the parameter there with every call. Remove the
    annotation. Better, take no secrets as parameters, because a model must know them to send them.
    """
    marked = [position for position in list_subschemas(tool.schema) if _KEYWORD in position.schema]
    if not marked:
        raise Inapplicable("no parameter names a header")
    for position in marked:
        header = position.schema[_KEYWORD]
        names = [position.name, header if isinstance(header, str) else ""]
        if position.schema.get("format") == "password" or any(map(is_secret_name, names)):
            yield position.name, "the parameter is a secret by its name or format"
