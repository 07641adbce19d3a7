"""Rule `tool-destruction-not-isolated`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.authority import Authority, actions_of
from scoring.examples import taking, tool
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Tool


@rule(
    "tool-destruction-not-isolated",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Destroying is one action among others of a tool",
    since="2026.1",
    version=1,
    good=[tool("delete_note"), taking(action={"enum": ["list", "create"]})],
    bad=[taking(action={"enum": ["create", "delete"]})],
)
def tool_destruction_not_isolated(tool: Tool) -> Iterator[str]:
    """A deletion that hides among the actions of a tool can neither be switched off nor asked about on its own.

    Give it a tool of its own, or at least mark the tool with `destructiveHint: true`.
    """
    deeds = set(actions_of(tool.item.raw))
    grave = deeds & {Authority.DESTRUCTIVE, Authority.ADMIN}
    if grave and deeds - grave and tool.annotations.get("destructiveHint") is not True:
        yield "destructive or administrative actions stand beside others, and destructiveHint is not true"
