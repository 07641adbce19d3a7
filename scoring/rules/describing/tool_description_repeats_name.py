"""Rule `tool-description-repeats-name`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.words import split_tokens

_LONGER = 4
"""A description that is so many times longer than the name says more than the name."""


@rule(
    "tool-description-repeats-name",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool description only repeats the name",
    remedy="Replace the `description` with a sentence that states what the tool returns or changes, for example "
    "`Renders a diagram as SVG`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("render_diagram", description="Render-Diagram"),
        build_tool("render_diagram", description="Renders a diagram as SVG."),
    ),
)
def tool_description_repeats_name(tool: Tool, by_words: bool = False) -> Iterator[str]:
    """A description that repeats the name gives no further information.

    State what the tool returns or changes, and when to use it. With `by_words`, punctuation and the capitals of
    camelCase are ignored.
    """
    spelt = split_tokens if by_words else _spaced
    if len(tool.description) > _LONGER * (len(tool.name) + 1):
        return
    if tool.description and spelt(tool.description) and spelt(tool.description) == spelt(tool.name):
        yield "the description only repeats the name"


def _spaced(text: str) -> str:
    return text.lower().replace("_", " ").replace("-", " ")
