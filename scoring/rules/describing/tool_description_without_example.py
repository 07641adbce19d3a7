"""Rule `tool-description-without-example`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import compile_pattern
from scoring.vocabularies import phrases

_CODE: Final = compile_pattern(r"`[^`]+`|\(\s*e\.?g\.?\s")
_EXAMPLE: Final = compile_pattern(
    r"\bexamples?\b|\be\.g\b|\beg[.:]|\bfor instance\b|\bsuch as\b|\bincluding\b|\bsamples?\b|\blike \S"
    r"|`[^`]+`|\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)"
)
_MARKS: Final = (
    *("example", "e.g", "eg.", "eg:", "for instance", "such as", "including", "sample", "like "),
    *("`", '"', "'"),
)
"""An example holds one of these."""


@rule(
    "tool-description-without-example",
    scope=Tool,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="Tool description gives no example",
    remedy="Add an example to the `description` of the tool after `for example`, `such as` or `e.g.`, for example "
    "`Finds files, e.g. *.json`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool(
            "find-files",
            inputSchema={"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
            description="Finds the files that match a pattern.",
        ),
        build_tool(
            "find-files",
            inputSchema={"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
            description="Finds the files that match a pattern, e.g. *.json.",
        ),
    ),
    good=[build_tool(description="Finds files, e.g. *.json."), build_tool(description=None)],
    bad=[
        build_tool(description="Finds files by their name."),
        build_tool(description="Lists the user's likely files."),
    ],
)
def tool_description_without_example(tool: Tool, literal: bool = False) -> Iterator[str]:
    """One example shows format and purpose, so that the first call of a model succeeds.

    Whole phrases, code in backticks and quoted values count. `literal` also counts any quotation mark, and an
    apostrophe, as the published reference does.
    """
    if not tool.description:
        return
    text = tool.item.description.lower()
    if not (_quotes_or_names(text) if literal else _gives_example(text)):
        yield "no example"


def _gives_example(text: str) -> bool:
    return any(map(text.__contains__, _MARKS)) and _EXAMPLE.search(text) is not None


def _quotes_or_names(text: str) -> bool:
    return any(phrase in text for phrase in phrases.EXAMPLE) or bool(_CODE.search(text))
