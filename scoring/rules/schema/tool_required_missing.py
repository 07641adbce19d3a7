"""Rule `tool-required-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.examples import taking
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Tool


@rule(
    "tool-required-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.INFO,
    title="No parameter is marked as required",
    since="2026.1",
    version=1,
    good=[taking("query", query={"type": "string"}), taking()],
    bad=[taking(query={"type": "string"})],
)
def tool_required_missing(tool: Tool) -> Iterator[str]:
    """When nothing is required, a model may leave out what the call cannot work without.

    Name the essential parameters in `required`.
    """
    required = tool.schema.get("required")
    if tool.properties and not (isinstance(required, list) and required):
        yield "there are parameters, and none is required"
