"""Rule `tool-input-schema-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.examples import tool
from scoring.javascript import is_object
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Tool


@rule(
    "tool-input-schema-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool has no input schema",
    since="2026.1",
    version=1,
    good=[tool(inputSchema={"type": "object"}), tool(inputSchema=[])],
    bad=[tool(inputSchema=UNDEFINED), tool(inputSchema=None), tool(inputSchema=True)],
)
def tool_input_schema_missing(tool: Tool) -> Iterator[str]:
    """Without `inputSchema` neither a client nor a model knows which arguments the tool takes.

    The protocol requires it.
    """
    if not is_object(tool.input_schema):
        yield "no object in inputSchema"
