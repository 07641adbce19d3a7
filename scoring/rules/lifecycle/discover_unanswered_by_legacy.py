"""Rule `discover-unanswered-by-legacy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evidence.kinds.exchanges import MODERN, Exchange
from evidence.model import Reason
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import describe_reply
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.conversation import Conversation


def _probed(**members: Any) -> Conversation:
    return build_conversation(
        modern_exchange("discover", opened=False, **members),
        legacy_exchange(
            "initialize",
            result={
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "notes", "version": "1.0.0"},
            },
        ),
    )


@rule(
    "discover-unanswered-by-legacy",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="server/discover is not refused by a server of older revisions",
    remedy="Answer `server/discover` at once with a JSON-RPC error such as -32601 or with HTTP 4xx, also before "
    "`initialize`. Keep the process running after an unknown method.",
    since="2026.2",
    version=1,
    checks=info("ERA-01", "DE", "basic/versioning#compatibility-matrix"),
    fix=(_probed(status=500), _probed(status=404, error={"code": -32601, "message": "Method not found"})),
    good=[
        _probed(error={"code": -32601}),
        _probed(status=400),
        _probed(status=404, form="other", received=[{"text": "Not Found"}]),
    ],
    bad=[
        _probed(failure=("timeout", "no answer within 10 s")),
        _probed(status=202),
        _probed(result={"pong": True}),
        _probed(transport="stdio", status=None, failure=("unreachable", "the process ended")),
    ],
    unjudged=[
        _probed(status=429),
        _probed(status=401),
        _probed(failure=("unreachable", "connection reset")),
        build_conversation(modern_exchange("discover", result={}), legacy_exchange("initialize", result={})),
        build_conversation(legacy_exchange("initialize", result={})),
    ],
)
def discover_unanswered_by_legacy(conversation: Conversation) -> Iterator[Answer]:
    """Newer clients call `server/discover` first and fall back to `initialize` when they receive an error.

    An immediate JSON-RPC error or HTTP 4xx is enough. Without an answer every such client waits for its timeout, and a
    process that exits at an unknown method never reaches the handshake. The specification does not define the answer,
    so this check is for information only.
    """
    if MODERN in conversation.recorded.eras or not conversation.exchanges:
        raise Inapplicable("the server supports the newer revision")
    attempts = tuple(one for one in conversation.recorded.of("discover") if one.connection.era == MODERN)
    if not attempts:
        raise Inapplicable("not asked")
    for exchange in attempts:
        if complaint := _complaint(exchange):
            yield exchange, complaint


def _complaint(exchange: Exchange) -> str:
    """What is wrong; empty when it was turned down. Raises Undecided on what is not the server's doing."""
    if exchange.failure == Reason.TIMEOUT:
        return "no answer, an error expected"
    if exchange.failure and not exchange.over_http and exchange.failure != Reason.NOT_COLLECTED:
        return "the process ended or could not be read, an error expected"
    if exchange.status is not None and exchange.status >= 500 and not exchange.failure:
        return f"{describe_reply(exchange)}, HTTP 4xx expected"
    if exchange.unclear or exchange.is_refusal:
        raise Undecided(exchange.unclear or f"HTTP {exchange.status}")
    if exchange.error is not None or (exchange.status is not None and exchange.status >= 400):
        return ""
    return f"{describe_reply(exchange)}, an error expected"
