"""Rule `tool-name-without-verb`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.examples import tool
from scoring.javascript import trim
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Tool
from scoring.vocabularies import verbs
from scoring.words import tokens

_PREFIXES: Final = tuple(sorted(verbs.NAMING))


@rule(
    "tool-name-without-verb",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool name does not say what it does",
    since="2026.1",
    version=1,
    good=[tool(name="get-user"), tool(name="github_createIssue"), tool(name=" ")],
    bad=[tool(name="user-profile"), tool(name="userHandler"), tool(name="address-book")],
)
def tool_name_without_verb(tool: Tool, literal: bool = False) -> Iterator[str]:
    """A verb at the start tells a model at a glance what a tool does: `get-user`, not `user-profile`.

    The first word counts, or the second after the name of a product. `literal` takes the text before the first
    hyphen and lets it begin with a verb, as the published reference does, so that `address` begins with `add`.
    """
    if not trim(tool.name):
        return
    if literal:
        named = tool.name.lower().partition("-")[0].startswith(_PREFIXES)
    else:
        named = not verbs.NAMING.isdisjoint(tokens(tool.name)[:2])
    if not named:
        yield "no verb such as get, list, create or search at the start"
