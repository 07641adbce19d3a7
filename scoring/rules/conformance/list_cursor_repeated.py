"""Rule `list-cursor-repeated`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import End
from scoring.examples import asked_list
from scoring.outcome import Level, Severity
from scoring.rule import rule
from scoring.scope import AskedList


@rule(
    "list-cursor-repeated",
    scope=AskedList,
    reads="listing",
    severity=Severity.ERROR,
    title="A list repeats its cursor",
    since="2026.1",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination",
    good=[asked_list()],
    bad=[asked_list(end="cursor_repeated", pages=3)],
)
def list_cursor_repeated(asked: AskedList) -> Iterator[str]:
    """A cursor that was already followed leads around in a circle.

    A client that trusts it never finishes listing.
    """
    if asked.items.end is End.CURSOR_REPEATED:
        yield f"nextCursor of {asked.name} came back after {len(asked.items.pages)} pages"
