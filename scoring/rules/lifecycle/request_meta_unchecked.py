"""Rule `request-meta-unchecked`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import (
    BAD_REQUEST,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    list_read_by_server,
    list_unexpected_replies,
)
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.conversation import Conversation

_BARE: Final = "discover-meta-missing"


@rule(
    "request-meta-unchecked",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request without its required fields is not refused",
    remedy="Answer a request without `io.modelcontextprotocol/protocolVersion` or "
    "`io.modelcontextprotocol/clientCapabilities` in `_meta` with error -32602. Set HTTP status 400 over "
    "HTTP.",
    since="2026.2",
    version=1,
    checks=(
        must("META-01", "E", "basic#meta", step=_BARE),
        must("META-02", "E", "basic#meta", step="discover-capabilities-missing"),
    ),
    fix=(
        build_conversation(
            modern_exchange(
                "discover-meta-missing",
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
                "discover-meta-missing",
                status=400,
                error={"code": -32602, "message": "protocolVersion is missing in _meta"},
            )
        ),
    ),
    good=[build_conversation(modern_exchange(_BARE, status=400, error={"code": -32602}))],
    bad=[
        build_conversation(modern_exchange(_BARE, result={})),
        build_conversation(modern_exchange(_BARE, status=400, error={"code": -32600})),
        build_conversation(
            modern_exchange(_BARE, status=400, error={"code": -32600}), legacy_exchange("initialize", result={})
        ),
        build_conversation(modern_exchange(_BARE, error={"code": -32602})),
    ],
    unjudged=[
        build_conversation(modern_exchange(_BARE, status=503)),
        build_conversation(modern_exchange(_BARE, status=404)),
        build_conversation(legacy_exchange("initialize", result={})),
    ],
)
def request_meta_unchecked(conversation: Conversation, step: str = _BARE) -> Iterator[Answer]:
    """Refuse a request without the version or the client's capabilities in `_meta` with error -32602.

    Over HTTP the status is 400. A server that guesses works only with some clients, and may use capabilities that the
    client lacks. A server that also supports an older revision may read a request without any `_meta` as one of that
    revision, so another refusal is tolerated. Error -32020 is tolerated too: without `_meta` the version in the header
    has no counterpart.
    """
    conclusive = list_read_by_server(conversation.conclusive(step), conversation.recorded)
    for exchange, message in list_unexpected_replies(conclusive, status=BAD_REQUEST, code=INVALID_PARAMS):
        older = conversation.is_dual_era and not exchange.succeeded
        mismatch = exchange.status == BAD_REQUEST and exchange.code == HEADER_MISMATCH
        remark = step == _BARE and (older or mismatch)
        yield Tolerated(message, exchange) if remark else (exchange, message)
