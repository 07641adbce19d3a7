"""Decides whether a pattern is about another tool, or about the tool itself and its own parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from evidence.kinds.listing import Listing
from evidence.patterns.poisoning import Confidence, MentionedTool, PatternMatch

MAX_WORDS: Final = 4_000
MAX_DEPTH: Final = 24
MAX_WORD: Final = 60

_MARKED: Final = re.compile(r"[a-z0-9][_.:-]+[a-z0-9]")
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]")


class ToolContext(Struct, frozen=True):
    """The tool that owns a text: its own words (name, parameters, values) and the names of all tools, in lower case."""

    own: frozenset[str]
    tools: frozenset[str]

    def confidence(self, found: PatternMatch, sent: str) -> Confidence | None:
        """The confidence of a match in a text of this tool; None when the match is only about the tool itself."""
        if found.others is None:
            return found.confidence
        about = [names for names in found.others if not any(self._is_own(each.name) for each in names)]
        if not about:
            return None
        certain = any(all(self._is_tool(each, sent) for each in names) for names in about)
        return (
            found.confidence if certain else min(found.confidence, Confidence.MEDIUM, key=list(Confidence)[::-1].index)
        )

    def _is_own(self, name: str) -> bool:
        return name in self.own

    def _is_tool(self, named: MentionedTool, sent: str) -> bool:
        """Whether a mentioned thing is certainly a tool: listed, called a tool, or with a name of several words."""
        if named.called or named.name in self.tools or _MARKED.search(named.name):
            return True
        at = sent.lower().find(named.name)
        return at >= 0 and _HUMP.search(sent[at : at + len(named.name)]) is not None


def build_tool_contexts(listing: Listing, owners: Iterable[str]) -> dict[str, ToolContext]:
    """The contexts of the owning tools by name. Tools with the same name share one context."""
    wanted = set(owners)
    tools = frozenset(item.name.lower() for item in listing.tools.items if item.name)
    own: dict[str, set[str]] = {name: {name.lower()} for name in wanted}
    for item in listing.tools.items:
        if item.name in wanted:
            own[item.name].update(_words(item.get("inputSchema")), _words(item.get("outputSchema")))
    return {name: ToolContext(frozenset(words), tools) for name, words in own.items()}


def _words(value: object) -> Iterator[str]:
    """Keys and short values of a schema in lower case, within bounds."""
    level: list[object] = [value]
    seen = 0
    for _ in range(MAX_DEPTH):
        following: list[object] = []
        for part in level:
            seen += 1
            if seen > MAX_WORDS:
                return
            if isinstance(part, str) and len(part) <= MAX_WORD:
                yield part.lower()
            elif isinstance(part, Mapping):
                yield from (key.lower() for key in part if len(key) <= MAX_WORD)
                following += part.values()
            elif isinstance(part, list):
                following += part
        level = following
