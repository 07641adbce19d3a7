"""Rule `tool-name-starts-with-digit`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool

_DIGITS: Final = frozenset("0123456789")


@rule(
    "tool-name-starts-with-digit",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool name starts with a digit",
    remedy="Begin the tool name with a letter, such as `verify-2fa` instead of `2fa-verify`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(description="Verifies a code of the second factor.", name="2fa-verify"),
        build_tool(description="Verifies a code of the second factor.", name="verify-2fa"),
    ),
    good=[build_tool(name="verify-2fa")],
    bad=[build_tool(name="2fa-verify")],
)
def tool_name_starts_with_digit(tool: Tool) -> Iterator[str]:
    """Generated code turns tool names into identifiers, which cannot start with a digit in most languages."""
    if tool.name[:1] in _DIGITS:
        yield f"starts with {tool.name[0]}"
