"""Rule `list-without-pagination`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_tool
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool
from scoring.text.words import split_tokens

_LISTS: Final = frozenset({"list", "search", "find", "query", "browse"})
_ALL: Final = re.compile(r"\breturns? (?:a list|all)\b|\blists? (?:all|every)\b", re.IGNORECASE)
_SAID: Final = (
    *("return a list", "returns a list", "return all", "returns all"),
    *("list all", "lists all", "list every", "lists every"),
)
"""What `_ALL` finds in ASCII text holds one of these."""
_PAGES: Final = frozenset(
    {"after", "before", "count", "cursor", "first", "last", "limit", "max", "maximum", "offset", "page", "per"}
    | {"results", "rows", "size", "skip", "take", "top"}
)


@rule(
    "list-without-pagination",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A list has no pagination",
    remedy="Add a parameter `limit` and a parameter `cursor` (or `page` or `offset`) to the tool's `inputSchema`. "
    "Return only that part of the list.",
    since="2026.1",
    version=1,
    fix=(
        build_tool("list_notes", description="Lists the notes of the user."),
        build_tool(
            "list_notes",
            description="Lists the notes of the user.",
            inputSchema={
                "type": "object",
                "properties": {"limit": {"type": "integer", "maximum": 100}, "cursor": {"type": "string"}},
            },
        ),
    ),
    good=[
        build_tool("get_note", description="Reads one note."),
        build_tool("list_notes", inputSchema={"properties": {"pageSize": {}}}),
    ],
    bad=[build_tool("list_notes")],
)
def list_without_pagination(tool: Tool) -> Iterator[str]:
    """Without pagination one call may put a whole table into the context of a model.

    Accept a limit together with a cursor, a page or an offset.
    """
    lists = not _LISTS.isdisjoint(split_tokens(tool.name)) or _says_all(tool.description[:4000])
    if lists and all(_PAGES.isdisjoint(split_tokens(name)) for name in tool.properties):
        yield "the tool lists or searches, and has no parameter for a limit, a page or a cursor"


def _says_all(text: str) -> bool:
    if text.isascii() and not any(map(text.lower().__contains__, _SAID)):
        return False
    return _ALL.search(text) is not None
