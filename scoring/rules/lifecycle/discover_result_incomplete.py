"""Rule `discover-result-incomplete`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "discover-result-incomplete",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The result of server/discover lacks a required member",
    remedy='Return `supportedVersions` as a non-empty array of strings, such as `["2026-07-28"]`, and '
    "`capabilities` as an object in the result of `server/discover`.",
    since="2026.2",
    version=1,
    checks=must("DISC-01", "E", "server/discover#response"),
    fix=(
        build_conversation(
            modern_exchange(
                "discover",
                result={
                    "supportedVersions": [],
                    "capabilities": None,
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
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
    good=[
        build_conversation(
            modern_exchange("discover", result={"supportedVersions": ["2026-07-28"], "capabilities": {}})
        )
    ],
    bad=[
        build_conversation(modern_exchange("discover", result={"supportedVersions": [], "capabilities": None})),
        build_conversation(
            modern_exchange("discover", result={"supportedVersions": ["2026-07-28", 1], "capabilities": {}})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("discover", status=503)),
    ],
)
def discover_result_incomplete(conversation: Conversation) -> Iterator[Answer]:
    """A client calls `server/discover` to learn the supported versions and the capabilities.

    `supportedVersions` is a non-empty list of strings, and `capabilities` is an object.
    """
    for exchange in conversation.results("discover"):
        versions = exchange.fields.get("supportedVersions")
        if not isinstance(versions, list) or not versions or not all(isinstance(one, str) for one in versions):
            yield exchange, "supportedVersions is not a non-empty list of strings"
        if not isinstance(exchange.fields.get("capabilities"), Mapping):
            yield exchange, "capabilities is not an object"
