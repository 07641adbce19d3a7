"""Rule `tools-reordered`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation

_ADD: Final = {"name": "add"}
_GREET: Final = {"name": "greet"}


def _listed(step: str, *tools: Any) -> dict[str, Any]:
    return modern_exchange(step, result={"tools": list(tools)})


@rule(
    "tools-reordered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="The order of the tools changes between two requests",
    remedy="Return the tools of `tools/list` in the same order for every request. Sort them by `name`, or keep "
    "them in an ordered list.",
    since="2026.2",
    version=1,
    checks=should("TOOL-07", "E", "server/tools#capabilities"),
    fix=write_snippet(
        Language.PYTHON,
        "Source code",
        before="tools = list(set(tools))",
        after="tools = sorted(tools, key=lambda tool: tool.name)",
    ),
    good=[
        build_conversation(_listed("list-tools", _ADD, _GREET), _listed("list-tools-again", _ADD, _GREET)),
        build_conversation(_listed("list-tools", _ADD), _listed("list-tools-again", _ADD)),
    ],
    bad=[build_conversation(_listed("list-tools", _ADD, _GREET), _listed("list-tools-again", _GREET, _ADD))],
    unjudged=[
        build_conversation(_listed("list-tools", _ADD, _GREET), _listed("list-tools-again", _ADD)),
        build_conversation(_listed("list-tools", _ADD)),
        build_conversation(modern_exchange("list-tools", status=429), _listed("list-tools-again", _ADD)),
    ],
)
def tools_reordered(conversation: Conversation) -> Iterator[Answer]:
    """Return unchanged tools in the same order, because clients put the list into the prompt of a model.

    A model reads the same list in the same order from its cache; after another order its tokens are charged again. Sort
    the tools, or keep them in a list instead of a set.
    """
    first = next((one for one in conversation.results("list-tools") if not one.page), None)
    again = conversation.results("list-tools-again")[0]
    if first is None:
        raise Undecided("the first page is missing")
    before, after = (
        tuple(map(list_pages.entry_label, list_pages.list_page_entries(one, "tools"))) for one in (first, again)
    )
    if sorted(before) != sorted(after):
        raise Undecided("the tools changed between the requests")
    if before != after:
        yield again, f"the same {len(before)} tools are in another order"
