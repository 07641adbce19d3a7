"""Rule `tool-name-without-verb`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import trim_whitespace
from scoring.text.words import split_tokens
from scoring.vocabularies import verbs

_PREFIXES: Final = tuple(sorted(verbs.NAMING))


@rule(
    "tool-name-without-verb",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool name does not say what the tool does",
    remedy="Begin the tool name with a verb such as `get`, `list`, `create` or `search`: `get-user` instead of "
    "`user-profile`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(description="Lists the tags of the current user.", name="tag-manager"),
        build_tool(description="Lists the tags of the current user.", name="list-tags"),
    ),
    good=[build_tool(name="get-user"), build_tool(name="github_createIssue"), build_tool(name=" ")],
    bad=[build_tool(name="user-profile"), build_tool(name="userHandler"), build_tool(name="address-book")],
)
def tool_name_without_verb(tool: Tool, literal: bool = False) -> Iterator[str]:
    """A verb at the start of the name shows a model what the tool does: `get-user`, not `user-profile`.

    The first word counts, or the second after the name of a product. `literal` takes the text before the first hyphen
    and lets it begin with a verb, as the published reference does, so that `address` begins with `add`.
    """
    if not trim_whitespace(tool.name):
        return
    if literal:
        named = tool.name.lower().partition("-")[0].startswith(_PREFIXES)
    else:
        named = not verbs.NAMING.isdisjoint(split_tokens(tool.name)[:2])
    if not named:
        yield "no verb such as get, list, create or search at the start"
