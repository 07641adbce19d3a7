"""Rule `list-without-pagination`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.examples import tool
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Tool

_LISTS: Final = frozenset({"list", "search", "find", "query", "browse"})
_ALL: Final = re.compile(r"\breturns? (?:a list|all)\b|\blists? (?:all|every)\b", re.IGNORECASE)
_PAGES: Final = frozenset(
    {"after", "before", "count", "cursor", "first", "last", "limit", "max", "maximum", "offset", "page", "per"}
    | {"results", "rows", "size", "skip", "take", "top"}
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@rule(
    "list-without-pagination",
    scope=Tool,
    reads="listing",
    severity=Severity.WARNING,
    title="A list cannot be read in parts",
    since="2026.1",
    version=1,
    good=[
        tool("get_note", description="Reads one note."),
        tool("list_notes", inputSchema={"properties": {"pageSize": {}}}),
    ],
    bad=[tool("list_notes")],
)
def list_without_pagination(tool: Tool) -> Iterator[str]:
    """A list that comes whole can be a whole table of customers, in the context of a model.

    Take a limit and a cursor, a page or an offset.
    """
    lists = bool(_LISTS & _words(tool.name)) or _ALL.search(tool.description[:4000]) is not None
    if lists and not any(_PAGES & _words(name) for name in tool.properties):
        yield "lists or searches, and takes no limit, page or cursor"


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}
