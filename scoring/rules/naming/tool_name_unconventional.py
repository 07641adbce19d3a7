"""Rule `tool-name-unconventional`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool

_CONVENTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_SNAKE_OR_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+|-[a-z0-9]+)*")


@rule(
    "tool-name-unconventional",
    scope=Tool,
    reads="listing",
    severity=Severity.INFO,
    title="Tool name has unusual characters",
    remedy="Use a tool name that begins with a letter and has only ASCII letters, digits, `_` and `-`, for "
    "example in snake_case or kebab-case such as `get_record`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(description="Lists the tags of the current user.", name="list.tags"),
        build_tool(description="Lists the tags of the current user.", name="list_tags"),
    ),
    good=[build_tool(name="get-record"), build_tool(name="GetRecord"), build_tool(name="get-")],
    bad=[
        build_tool(name="get.record"),
        build_tool(name="1st"),
        build_tool(name="récupérer"),
        build_tool(name=None),
        build_tool(name="get\n"),
    ],
)
def tool_name_unconventional(tool: Tool, lower_case: bool = False) -> Iterator[str]:
    """Some clients fail on unusual names: begin with a letter, and use only ASCII letters, digits, `_` and `-`.

    With `lower_case`, the name has to be snake_case or kebab-case.
    """
    if lower_case and tool.name:
        if not _SNAKE_OR_KEBAB.fullmatch(tool.name):
            yield "neither snake_case nor kebab-case"
    elif not _CONVENTION.fullmatch(tool.name):
        yield "not a letter followed by letters, digits, _ or -" if tool.name else "no name"
