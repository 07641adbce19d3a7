"""Rule `tool-hint-not-boolean`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Tool

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@rule(
    "tool-hint-not-boolean",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="A hint about the tool is not a boolean",
    remedy="Set each of `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint` to the JSON "
    "value `true` or `false`, without quotes, or omit it.",
    since="2026.2",
    version=1,
    checks=must("TOOL-12", "BCDE", "schema#toolannotations"),
    fix=(
        build_tool(
            "list-tags", description="Lists the tags of the current user.", annotations={"readOnlyHint": "true"}
        ),
        build_tool("list-tags", description="Lists the tags of the current user.", annotations={"readOnlyHint": True}),
    ),
    good=[build_tool(annotations={"readOnlyHint": True, "title": "Get record"})],
    bad=[build_tool(annotations={"readOnlyHint": "true"}), build_tool(annotations={"destructiveHint": None})],
    unjudged=[build_tool(), build_tool(annotations={"title": "Get record"}), build_tool(annotations=[])],
)
def tool_hint_not_boolean(tool: Tool) -> Iterator[Answer]:
    """`readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint` are booleans or absent.

    Clients use them to decide whether a call needs confirmation. A string such as "false" counts as true in many
    languages, and strict clients reject the tool. Leave out what you do not know.
    """
    given = [name for name in _HINTS if name in tool.annotations]
    if not given:
        raise Inapplicable("no hints")
    for name in given:
        if not isinstance(tool.annotations[name], bool):
            yield "annotations", f"{name} is not a boolean"
