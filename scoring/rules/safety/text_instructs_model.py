"""Rule `text-instructs-model`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool

_ORDER: Final = re.compile(
    r"\b(?:always (?:call|use|run|invoke|start with)|must (?:be called|call|use|always)|call this (?:tool )?first"
    r"|never (?:call|use)"
    r"|mandatory|important:|critical:|do not (?:ask|use|call)|before (?:any|using any|calling any))\b",
    re.IGNORECASE,
)
_NEEDS: Final = (
    *("always ", "must ", "call this ", "never ", "do not ", "before "),
    *("mandatory", "important:", "critical:"),
)
"""An order in ASCII holds one of these."""


@rule(
    "text-instructs-model",
    scope=Tool,
    reads="listing",
    severity=Severity.INFO,
    title="A description instructs the model",
    remedy="No change is needed if the instruction is only about the use of this tool; otherwise replace it with a "
    "description of what the tool does.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Always call this first."),
        build_tool("list-tags", description="Lists the tags of the current user."),
    ),
    good=[build_tool()],
    bad=[build_tool(description="Always call this first.")],
)
def text_instructs_model(tool: Tool) -> Iterator[str]:
    """Imperatives in a description influence the model beyond the choice of this tool.

    Most have a good purpose. This check is for information only: other rules judge concealment, overriding and similar
    instructions.
    """
    text = tool.description[:4000]
    if (not text.isascii() or any(map(text.lower().__contains__, _NEEDS))) and _ORDER.search(text):
        yield "the description contains an imperative to the model"
