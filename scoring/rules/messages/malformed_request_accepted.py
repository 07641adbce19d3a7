"""Rule `malformed-request-accepted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import BAD_REQUEST, describe_reply
from scoring.protocol.streamable_http import STREAMABLE
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation

_CODES: Final = frozenset({-32700, -32600})
_SESSION_GONE: Final = frozenset({404, 410})


@rule(
    "malformed-request-accepted",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request that is not JSON is not refused",
    remedy="Answer a body that is not valid JSON with JSON-RPC error -32700 (Parse error) and, over HTTP, with "
    "status 400.",
    since="2026.2",
    version=1,
    checks=must("JSON-03", "ABCDE", "basic#messages"),
    fix=(
        build_conversation(legacy_exchange("malformed", result={})),
        build_conversation(
            legacy_exchange(
                "malformed",
                status=400,
                message={"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
            )
        ),
    ),
    good=[
        build_conversation(legacy_exchange("malformed", status=400, form="other")),
        build_conversation(modern_exchange("malformed", error={"code": -32700})),
        build_conversation(stdio_exchange("malformed", error={"code": -32600})),
        build_conversation(legacy_exchange("malformed", transport="sse", status=400, form="other")),
    ],
    bad=[
        build_conversation(legacy_exchange("malformed", status=202, form="none")),
        build_conversation(modern_exchange("malformed", error={"code": -32603})),
        build_conversation(
            stdio_exchange("malformed", message={"jsonrpc": "2.0", "id": None, "error": {"code": -32603}})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(legacy_exchange("malformed", status=500)),
        build_conversation(legacy_exchange("malformed", transport="sse", status=202, form="none")),
        build_conversation(legacy_exchange("malformed", transport="sse", status=404, form="other")),
        build_conversation(stdio_exchange("malformed", result={})),
        build_conversation(stdio_exchange("malformed", error={"code": -32000})),
    ],
)
def malformed_request_accepted(conversation: Conversation) -> Iterator[Answer]:
    """Answer a body that is not JSON with an HTTP error, or with error -32700 (parse error) or -32600.

    A server that accepts it hides a fault of the client, and an internal error indicates a fault of the server instead.
    Where all answers share one channel, only an error that identifies the cause is judged: any other may be the late
    answer to an earlier request. Over HTTP+SSE a refusal of the POST itself identifies it too, unless the session is
    gone.
    """
    judged = [
        one for one in conversation.conclusive("malformed") if one.connection.transport == STREAMABLE or _is_meant(one)
    ]
    if not judged:
        raise Undecided("no answer on the other channel")
    for exchange in judged:
        if (exchange.status or 0) < BAD_REQUEST and exchange.code not in _CODES:
            yield exchange, f"{describe_reply(exchange)}, HTTP 400 or error -32700 expected"


def _is_meant(exchange: Exchange) -> bool:
    """True for the refusal of a request that could not be read: by status, by code, or since it has no id."""
    if exchange.error is None and exchange.status is not None:
        return exchange.status >= BAD_REQUEST and exchange.status not in _SESSION_GONE
    unread = exchange.answer is not None and exchange.answer.members.get("id") is None
    return exchange.error is not None and (exchange.code in _CODES or unread)
