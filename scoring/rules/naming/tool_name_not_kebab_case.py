"""Rule `tool-name-not-kebab-case`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import trim_whitespace

_KEBAB: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@rule(
    "tool-name-not-kebab-case",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="Tool name is not kebab-case",
    remedy="Rename the tool in kebab-case, such as `get-user`: lower-case words and digits that are joined by "
    "single hyphens. Begin with a letter.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(description="Lists the tags of the current user.", name="listTags"),
        build_tool(description="Lists the tags of the current user.", name="list-tags"),
    ),
    good=[build_tool(name="get-user-2"), build_tool(name=" ")],
    bad=[build_tool(name="get_user"), build_tool(name="getUser"), build_tool(name="get-"), build_tool(name="2-get")],
)
def tool_name_not_kebab_case(tool: Tool) -> Iterator[str]:
    """One naming style for all tools of a server is easier to read and to predict.

    The protocol does not require kebab-case; a methodology that does is stricter.
    """
    if trim_whitespace(tool.name) and not _KEBAB.fullmatch(tool.name):
        yield "not lower-case words and digits joined by single hyphens"
