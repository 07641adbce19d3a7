"""Rule `tool-name-outside-grammar`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule, should
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import trim_whitespace

_GRAMMAR: Final = re.compile(r"[A-Za-z0-9_.-]+")


@rule(
    "tool-name-outside-grammar",
    scope=Tool,
    reads="listing",
    severity=Severity.ERROR,
    title="Tool name breaks the naming rules of the protocol",
    remedy="Use a tool name of 1 to 128 characters with only ASCII letters, digits, `_`, `-` and `.`, such as "
    "`get_user`.",
    since="2026.1",
    version=1,
    checks=should("TOOL-05", "DE", "server/tools#tool-names", blank=True),
    fix=(
        build_tool(description="Lists the tags of the current user.", name="list tags"),
        build_tool(description="Lists the tags of the current user.", name="list_tags"),
    ),
    good=[build_tool(name="get_user.v2"), build_tool(name=" ")],
    bad=[build_tool(name="get user"), build_tool(name="récupérer"), build_tool(name="x" * 129)],
)
def tool_name_outside_grammar(tool: Tool, maximum: int = 128, blank: bool = False) -> Iterator[str]:
    """A tool name has 1 to 128 characters: ASCII letters, digits, `_`, `-` and `.`.

    Clients and model APIs reject others. An empty name, or one of white space, is judged only with `blank`; a missing
    name is judged by `tool-name-missing`.
    """
    if not trim_whitespace(tool.name) and not (blank and isinstance(tool.get("name"), str)):
        return
    if not tool.name:
        yield "the name is empty"
    elif not _GRAMMAR.fullmatch(tool.name):
        yield "the name has characters other than ASCII letters, digits, _, - and ."
    elif len(tool.name) > maximum:
        yield f"{len(tool.name)} characters, at most {maximum} expected"
