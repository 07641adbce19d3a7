"""Rule `tools-vary-by-connection`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation

_ADD: Final = {"name": "add"}
_GREET: Final = {"name": "greet"}


def _listed(step: str, *tools: Any, **members: Any) -> dict[str, Any]:
    return modern_exchange(step, result={"tools": list(tools), **members})


@rule(
    "tools-vary-by-connection",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The tools depend on the connection",
    remedy="Return the same tools with the same definitions from `tools/list` on every connection and every "
    "instance. Do not choose the tools by connection or session.",
    since="2026.2",
    version=1,
    checks=must("TOOL-08", "E", "server/tools#capabilities"),
    good=[
        build_conversation(_listed("list-tools", _ADD, _GREET), _listed("list-tools-elsewhere", _GREET, _ADD)),
        build_conversation(
            _listed("list-tools", _ADD, nextCursor="2"),
            _listed("list-tools-again", _ADD, nextCursor="3"),
            _listed("list-tools-elsewhere", _ADD, nextCursor="4"),
        ),
    ],
    bad=[
        build_conversation(_listed("list-tools", _ADD, _GREET), _listed("list-tools-elsewhere", _ADD)),
        build_conversation(
            _listed("list-tools", _ADD),
            _listed("list-tools-again", _ADD),
            _listed("list-tools-elsewhere", {**_ADD, "description": "Adds."}),
        ),
    ],
    unjudged=[
        build_conversation(
            _listed("list-tools", _ADD),
            _listed("list-tools-again", _ADD, _GREET),
            _listed("list-tools-elsewhere", _ADD, _GREET),
        ),
        build_conversation(
            _listed("list-tools", _ADD, nextCursor="2"), _listed("list-tools-elsewhere", _GREET, nextCursor="2")
        ),
        build_conversation(_listed("list-tools", _ADD)),
        build_conversation(
            _listed("list-tools", _ADD), modern_exchange("list-tools-elsewhere", failure=("timeout", ""))
        ),
    ],
)
def tools_vary_by_connection(conversation: Conversation) -> Iterator[Answer]:
    """The list of tools must not depend on the connection.

    Since there are no sessions, requests of one client may use any connection and reach any instance. A tool of one
    connection may then be missing when it is called. Tools that change with time, as two requests on the same
    connection show, are not judged. The same tools with other definitions are tolerated.
    """
    first, other = _first_page(conversation, "list-tools"), _first_page(conversation, "list-tools-elsewhere")
    again = next(iter(conversation.recorded.of("list-tools-again")), None)
    here, there = _tools(first), _tools(other)
    if again is not None and again.succeeded and _tools(again) != here:
        raise Undecided("the tools change on the same connection too")
    if here.keys() != there.keys():
        if "nextCursor" in first.fields or "nextCursor" in other.fields:
            raise Undecided("more than one page")
        count = len(here.keys() ^ there.keys())
        yield other, f"{count} {'tool is' if count == 1 else 'tools are'} on one connection only"
    elif here != there:
        yield Tolerated("the same tools are defined differently", other)


def _first_page(conversation: Conversation, step: str) -> Exchange:
    found = next(
        (one for one in conversation.results(step) if not one.page and isinstance(one.fields.get("tools"), list)), None
    )
    if found is None:
        raise Undecided("the first page is missing")
    return found


def _tools(exchange: Exchange) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for entry in list_pages.list_page_entries(exchange, "tools"):
        found.setdefault(list_pages.entry_label(entry), []).append(entry)
    return found
