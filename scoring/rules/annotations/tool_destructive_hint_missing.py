"""Rule `tool-destructive-hint-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.vocabularies import effects
from scoring.vocabularies.verbs import leading_verb


@rule(
    "tool-destructive-hint-missing",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool that changes data does not declare whether it destroys data",
    remedy="Add `annotations.destructiveHint` to the tool: `true` if the tool may delete or overwrite data, `false` "
    "if it only adds data.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "delete-user",
            description="Deletes a user. This cannot be undone.",
            inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        ),
        build_tool(
            "delete-user",
            description="Deletes a user. This cannot be undone.",
            inputSchema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            annotations={"destructiveHint": True},
        ),
    ),
    good=[
        build_tool(name="delete-user", annotations={"destructiveHint": True}),
        build_tool(name="address-book"),
        build_tool(name="get-set-of-keys"),
    ],
    bad=[build_tool(name="deleteUser"), build_tool(name="github_create_issue")],
)
def tool_destructive_hint_missing(tool: Tool, literal: bool = False) -> Iterator[str]:
    """Without `destructiveHint` a client must assume that a tool that writes may also destroy data.

    The verb must be the first word of the name, or the second after the name of a product. `literal` reads as the
    published reference does: a name that begins with such a verb counts, so that `address` begins with `add`.
    """
    if tool.annotations.get("destructiveHint", UNDEFINED) is UNDEFINED and _modifies(tool.name, literal):
        yield "no destructiveHint"


def _modifies(name: str, literal: bool) -> bool:
    if literal:
        return name.lower().startswith(effects.MODIFYING) or name.lower().endswith(effects.MODIFYING_LAST)
    return leading_verb(name) in effects.MODIFYING
