"""Rule `initialize-refusal-unexplained`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evidence.kinds.exchanges import LEGACY, REVISIONS
from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.streamable_http import list_conclusive_exchanges
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


def _refused(**members: Any) -> Conversation:
    return build_conversation(
        modern_exchange(
            "discover",
            result={
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {},
                "ttlMs": 0,
                "cacheScope": "private",
            },
        ),
        legacy_exchange("initialize", opened=False, **members),
    )


@rule(
    "initialize-refusal-unexplained",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="The error for initialize names no supported version",
    remedy="Name the supported versions, such as `2026-07-28`, in `message` or in `data.supported` of the error "
    "that answers `initialize`.",
    since="2026.2",
    version=1,
    checks=should("INIT-01", "E", "basic/versioning#backward-compatibility-with-initialization-based-versions"),
    fix=(
        _refused(error={"code": -32601, "message": "Method not found"}),
        _refused(error={"code": -32601, "message": "Supported versions: 2026-07-28"}),
    ),
    good=[
        _refused(status=400, error={"code": -32022, "data": {"supported": ["2026-07-28"]}}),
        _refused(status=400, form="other", received=[{"text": "speak 2026-07-28"}]),
    ],
    bad=[_refused(status=400)],
    unjudged=[
        _refused(status=401),
        build_conversation(modern_exchange("discover", result={}), legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("discover", result={})),
    ],
)
def initialize_refusal_unexplained(conversation: Conversation) -> Iterator[Answer]:
    """Name the supported versions in the error for `initialize`, so that the user knows what to update.

    A client of an older revision begins with `initialize` and shows the error to its user. Put the versions into the
    message or into `data.supported`. A server that also supports an older revision is not judged.
    """
    if LEGACY in conversation.recorded.eras or not conversation.exchanges:
        raise Inapplicable("the server also supports an older revision")
    spoken = {REVISIONS["E"], *_supported(conversation)}
    for exchange in list_conclusive_exchanges(conversation, conversation.recorded.of("initialize")):
        words = [json.dumps(one.message) + one.text for one in exchange.received]
        if not any(version in text for version in spoken for text in words):
            yield exchange, "the error for initialize names no supported version"


def _supported(conversation: Conversation) -> Iterator[str]:
    for exchange in conversation.recorded.of("discover"):
        versions = exchange.fields.get("supportedVersions")
        yield from (one for one in (versions if isinstance(versions, list) else []) if isinstance(one, str) and one)
