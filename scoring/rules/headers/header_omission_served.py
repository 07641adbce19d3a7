"""Rule `header-omission-served`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import BAD_REQUEST, HEADER_MISMATCH, list_unexpected_replies
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.conversation import Conversation

_SECTION: Final = "basic/transports/streamable-http#server-validation"
_VERSION: Final = "discover-version-missing"


@rule(
    "header-omission-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request without a required header is not refused",
    remedy="Answer a request of revision 2026-07-28 that lacks the header `Mcp-Method` or `MCP-Protocol-Version` "
    "with HTTP 400 and JSON-RPC error -32020.",
    since="2026.2",
    version=1,
    checks=(
        must("HDR-03", "E", _SECTION, step="discover-method-missing"),
        must("HDR-04", "E", _SECTION, step=_VERSION),
    ),
    fix=(
        build_conversation(
            modern_exchange(
                "discover-version-missing",
                result={
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
        build_conversation(
            modern_exchange(
                "discover-version-missing",
                status=400,
                error={"code": -32020, "message": "MCP-Protocol-Version is missing"},
            )
        ),
    ),
    good=[build_conversation(modern_exchange(_VERSION, status=400, error={"code": -32020}))],
    bad=[
        build_conversation(modern_exchange(_VERSION, result={"supportedVersions": ["2026-07-28"]})),
        build_conversation(modern_exchange(_VERSION, status=400, error={"code": -32600})),
        build_conversation(modern_exchange(_VERSION, status=400, form="other", headers={})),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={}), depth="core"),
        build_conversation(modern_exchange(_VERSION, status=429)),
        build_conversation(modern_exchange(_VERSION, result={}), legacy_exchange("initialize", result={})),
        build_conversation(
            modern_exchange(_VERSION, result={}), legacy_exchange("initialize", status=429, opened=False)
        ),
    ],
)
def header_omission_served(conversation: Conversation, step: str = _VERSION) -> Iterator[Answer]:
    """A request without `Mcp-Method` or `MCP-Protocol-Version` must be refused with HTTP 400 and error -32020.

    A server that fills in missing headers cannot distinguish a modern client from an old one, and a gateway that relies
    on a header cannot check the request. A server that also supports the older revisions may read a request without a
    version as one of 2025-03-26, so the version is not judged there. An HTTP 400 without a JSON-RPC error is tolerated:
    it may come from an intermediary, which need not write one.
    """
    if not conversation.over_http or (step == _VERSION and conversation.is_dual_era):
        raise Inapplicable("the older revisions do not require the header")
    for exchange, message in list_unexpected_replies(
        conversation.conclusive(step), status=BAD_REQUEST, code=HEADER_MISMATCH
    ):
        refused = exchange.status == BAD_REQUEST and exchange.answer is None
        yield Tolerated(message, exchange) if refused else (exchange, message)
