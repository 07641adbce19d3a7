"""Rule `list-walks-in-circles`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation

_FIRST: Final = legacy_exchange("list-tools", result={"tools": [{"name": "a"}], "nextCursor": "2"})


def _second(*names: str, **members: Any) -> dict[str, Any]:
    return legacy_exchange("list-tools", page=1, result={"tools": [{"name": name} for name in names], **members})


@rule(
    "list-walks-in-circles",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="The pages of a list repeat",
    remedy="Return a new `nextCursor` and new entries on every page, and omit `nextCursor` on the last page. "
    "Return each entry on one page only.",
    since="2026.2",
    version=1,
    checks=should("PAGE-02", "ABCDE", "server/utilities/pagination#pagination-flow"),
    good=[
        build_conversation(_FIRST, _second("b")),
        build_conversation(legacy_exchange("list-tools", result={"tools": [], "nextCursor": ""}), _second("b")),
        build_conversation(_FIRST, _second("b", nextCursor=None)),
    ],
    bad=[
        build_conversation(_FIRST, _second("b", nextCursor="2")),
        build_conversation(_FIRST, _second("a", nextCursor="3")),
        build_conversation(_FIRST, _second("a")),
    ],
    unjudged=[
        build_conversation(_FIRST),
        build_conversation(_FIRST, legacy_exchange("list-tools", page=1, failure=("timeout", "no answer in 15 s"))),
        build_conversation(legacy_exchange("list-tools", error={"code": -32603})),
    ],
)
def list_walks_in_circles(conversation: Conversation) -> Iterator[Answer]:
    """A client that follows `nextCursor` page by page must reach a last page.

    It never finishes when a cursor repeats, or when later pages have only entries of earlier pages. An entry on two
    pages is tolerated, because a list may change while it is read. The empty string is a cursor like any other.
    """
    judged = False
    for walk in list_pages.list_page_exchanges(conversation.results(*list_pages.LIST_STEPS)):
        cursors = [cursor for one in walk if isinstance(cursor := one.fields.get("nextCursor"), str)]
        met, fresh = _count_repeated_entries(walk)
        if len(set(cursors)) < len(cursors):
            yield walk[-1], "a cursor is repeated"
        elif "nextCursor" in walk[-1].fields and len(cursors) == len(walk):
            if fresh or not met:
                continue
            yield walk[-1], "later pages have only entries of earlier pages"
        elif met:
            entries = "entry is" if met == 1 else "entries are"
            yield Tolerated(f"{met} {entries} on more than one page", walk[-1])
        judged = True
    if not judged:
        raise Undecided("the list was not read to its end")


def _count_repeated_entries(walk: Sequence[Exchange]) -> tuple[int, int]:
    """How many entries of the later pages were on an earlier one, and how many were not."""
    met = fresh = 0
    known: set[str] = set()
    for exchange in walk:
        labels = {
            list_pages.entry_label(entry)
            for entry in list_pages.list_page_entries(exchange, list_pages.list_member(exchange))
        } - {""}
        met += len(labels & known)
        fresh += len(labels - known) if exchange is not walk[0] else 0
        known |= labels
    return met, fresh
