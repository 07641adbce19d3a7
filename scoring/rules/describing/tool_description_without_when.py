"""Rule `tool-description-without-when`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.javascript import compile_pattern
from scoring.vocabularies import phrases

_BARE: Final = {"to", "for"}
_WHOLE: Final = sorted({"use for", *(phrase.strip() for phrase in phrases.WHEN)} - _BARE)
_WORDS: Final = frozenset(phrase for phrase in _WHOLE if " " not in phrase)
_PHRASES: Final = {
    first: compile_pattern(rf"\b(?:{'|'.join(same)})\b")
    for first, same in groupby((phrase for phrase in _WHOLE if " " in phrase), key=lambda phrase: phrase.split()[0])
}
"""By the first word of phrases of several words."""


@rule(
    "tool-description-without-when",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool description does not say when to use the tool",
    remedy="Add a sentence that begins with `Use this when` to the `description` of the tool, for example `Use this "
    "when you need the ID of a user`.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list-tags", description="Lists the tags of the current user."),
        build_tool("list-tags", description="Lists tags. Use this when you need the ID of a tag."),
    ),
    good=[
        build_tool(description="Lists users. Use this when you need their ids."),
        build_tool(description="Searches the web. Use for news."),
        build_tool(description=None),
    ],
    bad=[build_tool(description="Photo gallery."), build_tool(description="Go to the whenever page.")],
)
def tool_description_without_when(tool: Tool, literal: bool = False) -> Iterator[str]:
    """State when to use this tool, because a model must choose between similar tools.

    Write "Use this when ...". Whole words count. `literal` finds phrases anywhere, and also "to" and "for" alone, as
    the published reference does.
    """
    if not tool.description:
        return
    if not (_names_any(tool) if literal else _says_when(tool)):
        yield 'no phrase such as "use this when", "useful for" or "if"'


def _names_any(tool: Tool) -> bool:
    return any(map(tool.item.description.lower().__contains__, phrases.WHEN))


def _says_when(tool: Tool) -> bool:
    if not _WORDS.isdisjoint(tool.words):
        return True
    text = tool.item.description.lower()
    return any(_PHRASES[first].search(text) for first in _PHRASES.keys() & tool.words)
