"""Rule `discover-caching-unstated`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "discover-caching-unstated",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The result of server/discover lacks a caching member",
    remedy="Set `ttlMs` to an integer of at least 0 and `cacheScope` to `public` or `private` in the result of "
    "`server/discover`. Use `private` if the result depends on the user.",
    since="2026.2",
    version=1,
    checks=must("DISC-02", "E", "server/utilities/caching"),
    fix=(
        build_conversation(
            modern_exchange(
                "discover", result={"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"}
            )
        ),
        build_conversation(
            modern_exchange(
                "discover",
                result={
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
    ),
    good=[build_conversation(modern_exchange("discover", result={"ttlMs": 0, "cacheScope": "public"}))],
    bad=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("discover", result={"ttlMs": -1, "cacheScope": "shared"})),
        build_conversation(modern_exchange("discover", result={"ttlMs": True, "cacheScope": "private"})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("discover", status=429)),
    ],
)
def discover_caching_unstated(conversation: Conversation) -> Iterator[Answer]:
    """Clients cache the result for `ttlMs` milliseconds, and share it between users if `cacheScope` is `public`.

    Both are required: `ttlMs` is an integer of at least 0, where 0 disables caching, and `cacheScope` is `public` or
    `private`. Use `private` when the result depends on the user.
    """
    for exchange in conversation.results("discover"):
        seconds, scope = exchange.fields.get("ttlMs"), exchange.fields.get("cacheScope")
        whole = isinstance(seconds, int) or (isinstance(seconds, float) and seconds.is_integer())
        if not whole or isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
            yield exchange, "ttlMs is not an integer of at least 0"
        if not isinstance(scope, str) or scope not in {"public", "private"}:
            yield exchange, "cacheScope is neither public nor private"
