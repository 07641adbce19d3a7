"""Rule `tool-parameters-many`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool, build_tool_with_params
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool


@rule(
    "tool-parameters-many",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool has many parameters",
    remedy="Split the tool by task so that each tool has at most 10 parameters, or group related parameters into one "
    "object parameter.",
    since="2026.1",
    version=1,
    good=[build_tool()],
    bad=[build_tool_with_params(**{f"p{index}": {} for index in range(11)})],
)
def tool_parameters_many(tool: Tool, maximum: int = 10) -> Iterator[str]:
    """The more parameters a tool has, the more errors a model makes.
    Split the tool by task, or group related parameters.
    """
    count = len(tool.properties)
    if count > maximum:
        yield f"{count} parameters, at most {maximum} expected"
