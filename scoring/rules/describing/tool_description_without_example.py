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
_EXAMPLES: Final = {
    "example": compile_pattern(r"\bexamples?\b"),
    "e.g": compile_pattern(r"\be\.g\b"),
    "eg.": compile_pattern(r"\beg\."),
    "eg:": compile_pattern(r"\beg:"),
    "for instance": compile_pattern(r"\bfor instance\b"),
    "such as": compile_pattern(r"\bsuch as\b"),
    "including": compile_pattern(r"\bincluding\b"),
    "sample": compile_pattern(r"\bsamples?\b"),
    "like ": compile_pattern(r"\blike \S"),
    "`": compile_pattern(r"`[^`]+`"),
    '"': compile_pattern(r"\"[^\"]+\""),
    "'": compile_pattern(r"(?<!\w)'[^']+'(?!\w)"),
}
"""Forms of an example, by text that such an example holds."""


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
    return any(_EXAMPLES[mark].search(text) for mark in filter(text.__contains__, _EXAMPLES))


def _quotes_or_names(text: str) -> bool:
    return any(phrase in text for phrase in phrases.EXAMPLE) or bool(_CODE.search(text))
