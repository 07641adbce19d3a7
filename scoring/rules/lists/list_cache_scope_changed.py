"""Rule `list-cache-scope-changed`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "list-cache-scope-changed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Pages of one list have different cache scopes",
    remedy="Set the same `cacheScope` on all pages of one list. Use `private` on all pages if one page is private.",
    since="2026.2",
    version=1,
    checks=must("CACHE-02", "E", "server/utilities/caching#interaction-with-pagination"),
    good=[
        build_conversation(
            modern_exchange("list-tools", result={"nextCursor": "2", "cacheScope": "public"}),
            modern_exchange("list-tools", page=1, result={"cacheScope": "public"}),
            modern_exchange("list-prompts", result={"cacheScope": "private"}),
        )
    ],
    bad=[
        build_conversation(
            modern_exchange("list-tools", result={"nextCursor": "2", "cacheScope": "private"}),
            modern_exchange("list-tools", page=1, result={"cacheScope": "public"}),
        )
    ],
    unjudged=[
        build_conversation(
            modern_exchange("list-tools", result={"cacheScope": "public"}), modern_exchange("list-prompts", result={})
        ),
        build_conversation(
            modern_exchange("list-tools", result={}),
            modern_exchange("list-tools", page=1, result={"cacheScope": "public"}),
        ),
    ],
)
def list_cache_scope_changed(conversation: Conversation) -> Iterator[Answer]:
    """All pages of a list have the same `cacheScope`.

    When the first page is private and the second public, a shared cache sends the second page to users who must not see
    it. If one page is private, all must be private. Pages without a scope are judged by `list-cache-hints-missing`.
    """
    paged = False
    for walk in list_pages.list_page_exchanges(conversation.results(*list_pages.LIST_STEPS)):
        scopes = [scope for one in walk if isinstance(scope := one.fields.get("cacheScope"), str)]
        paged = paged or len(scopes) > 1
        if len(set(scopes)) > 1:
            yield walk[-1], "the pages differ in cacheScope, one value expected"
    if not paged:
        raise Inapplicable("no list with more than one page")
