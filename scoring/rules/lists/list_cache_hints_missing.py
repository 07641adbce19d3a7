"""Rule `list-cache-hints-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import list_pages, result_schemas
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation

_HINTS: Final[dict[str, Any]] = {"ttlMs": 0, "cacheScope": "private"}


@rule(
    "list-cache-hints-missing",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A page of a list lacks a caching member",
    remedy="Set `ttlMs` to an integer of at least 0 and `cacheScope` to `public` or `private` on every page of a "
    "list. The values `0` and `private` are always correct.",
    since="2026.2",
    version=1,
    checks=must("CACHE-01", "E", "server/utilities/caching#cacheable-results"),
    fix=(
        build_conversation(modern_exchange("list-tools", result={"tools": [], "resultType": "complete"})),
        build_conversation(
            modern_exchange(
                "list-tools", result={"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            )
        ),
    ),
    good=[build_conversation(modern_exchange("list-tools", result={"tools": [], **_HINTS}))],
    bad=[
        build_conversation(modern_exchange("list-tools", result={"tools": []})),
        build_conversation(modern_exchange("list-tools", result={"tools": [], **_HINTS, "ttlMs": -1})),
        build_conversation(modern_exchange("list-prompts", result={"prompts": [], **_HINTS, "ttlMs": True})),
        build_conversation(
            modern_exchange("list-resources", result={"resources": [], **_HINTS, "cacheScope": "shared"})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("list-tools", result={"tools": []})),
        build_conversation(modern_exchange("list-tools", result={"resultType": "input_required"})),
        build_conversation(modern_exchange("list-tools", status=503)),
    ],
)
def list_cache_hints_missing(conversation: Conversation) -> Iterator[Answer]:
    """Every page of a list has `ttlMs`, an integer of at least 0, and `cacheScope`, `public` or `private`.

    They state how long clients and gateways may keep the page and whether other users may receive it. Without them the
    official clients reject the page. `"ttlMs": 0` and `"cacheScope": "private"` are always correct.
    """
    hinted = [
        one for one in conversation.results(*list_pages.LIST_STEPS) if one.fields.get("resultType") != "input_required"
    ]
    if not hinted:
        raise Inapplicable("no complete result")
    for exchange in hinted:
        ttl, cache_scope = exchange.fields.get("ttlMs"), exchange.fields.get("cacheScope")
        wrong = [] if result_schemas.has_type("count", ttl) else ["ttlMs is not an integer of at least 0"]
        wrong += (
            []
            if result_schemas.has_type("=public|private", cache_scope)
            else ["cacheScope is neither public nor private"]
        )
        if wrong and not (exchange.answer and exchange.answer.missing):
            yield exchange, "; ".join(wrong)
