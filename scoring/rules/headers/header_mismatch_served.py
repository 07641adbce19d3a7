"""Rule `header-mismatch-served`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import BAD_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION, list_unexpected_replies
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.conversation import Conversation

_SECTION: Final = "basic/transports/streamable-http#server-validation"
_VERSION: Final = "discover-version-mismatch"


@rule(
    "header-mismatch-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A header that contradicts the body is not refused",
    remedy="Compare the headers `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` with the body of each request. "
    "Answer a difference with HTTP 400 and JSON-RPC error -32020.",
    since="2026.2",
    version=1,
    checks=(
        must("HDR-01", "E", _SECTION, step=_VERSION),
        must("HDR-02", "E", _SECTION, step="discover-method-mismatch"),
        must("HDR-05", "E", _SECTION, step="call-name-mismatch"),
    ),
    fix=(
        build_conversation(
            modern_exchange(
                "discover-version-mismatch",
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
                "discover-version-mismatch",
                status=400,
                error={"code": -32020, "message": "MCP-Protocol-Version differs from the body"},
            )
        ),
    ),
    good=[build_conversation(modern_exchange(_VERSION, status=400, error={"code": -32020}))],
    bad=[
        build_conversation(modern_exchange(_VERSION, result={"supportedVersions": ["2026-07-28"]})),
        build_conversation(modern_exchange(_VERSION, status=400, error={"code": -32022})),
        build_conversation(modern_exchange(_VERSION, status=200, error={"code": -32020})),
        build_conversation(modern_exchange(_VERSION, status=400, form="other", headers={})),
    ],
    unjudged=[
        build_conversation(stdio_exchange("discover", revision="E", result={})),
        build_conversation(legacy_exchange("initialize", result={}), depth="core"),
        build_conversation(modern_exchange("discover", result={}), depth="core"),
        build_conversation(modern_exchange(_VERSION, status=503)),
        build_conversation(modern_exchange(_VERSION, status=403)),
    ],
)
def header_mismatch_served(conversation: Conversation, step: str = _VERSION) -> Iterator[Answer]:
    """Compare `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` with the body, and refuse a difference.

    Refuse it with HTTP 400 and error -32020. Intermediaries route by the headers, and the server acts on the body. If
    both may differ, a gateway rule that allows `tools/list` also allows any other method in the body. An HTTP 400
    without a JSON-RPC error is tolerated: it may come from an intermediary, which need not write one. Error -32022 is
    tolerated when the header names a version that no revision has, because the same page requires it.
    """
    if not conversation.over_http:
        raise Inapplicable("not over HTTP")
    for exchange, message in list_unexpected_replies(
        conversation.conclusive(step), status=BAD_REQUEST, code=HEADER_MISMATCH
    ):
        yield Tolerated(message, exchange) if _is_refused(exchange) else (exchange, message)


def _is_refused(exchange: Exchange) -> bool:
    unknown = exchange.step == _VERSION and exchange.code == UNSUPPORTED_VERSION
    return exchange.status == BAD_REQUEST and (exchange.answer is None or unknown)
