"""Rule `tool-input-schema-unusable`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.kinds.listing import UNDEFINED, Item
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Tool


@rule(
    "tool-input-schema-unusable",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="Input schema is missing or not of type object",
    remedy='Set `inputSchema` to a JSON Schema object with `"type": "object"` at its root. Use `{"type": '
    '"object"}` for a tool without parameters.',
    since="2026.2",
    version=1,
    checks=must("TOOL-02", "ABCDE", "server/tools#tool"),
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema=None),
        build_tool("list-tags", description="Lists the tags of the current user.", inputSchema={"type": "object"}),
    ),
    good=[build_tool(inputSchema={"type": "object"})],
    bad=[
        build_tool(inputSchema=None),
        build_tool(inputSchema=UNDEFINED),
        build_tool(inputSchema=[]),
        build_tool(inputSchema={}),
        build_tool(inputSchema={"type": "string"}),
        build_tool(inputSchema={"type": ["object", "null"]}),
    ],
    unjudged=[Tool(item=Item("add", 0))],
)
def tool_input_schema_unusable(tool: Tool) -> Iterator[Answer]:
    """`inputSchema` has `"type": "object"` at its root, also for a tool without parameters.

    Arguments are always sent as an object. Clients reject a tool whose schema is missing, null or of another type, and
    strict ones reject the whole list. Write `{"type": "object"}` for a tool without parameters.
    """
    if not isinstance(tool.item.raw, Mapping):
        raise Inapplicable("the tool is not an object")
    if not isinstance(tool.input_schema, Mapping):
        yield "inputSchema is missing" if tool.input_schema is UNDEFINED else "inputSchema is not an object"
    elif tool.input_schema.get("type") != "object":
        yield 'the root of inputSchema has no "type": "object"'
