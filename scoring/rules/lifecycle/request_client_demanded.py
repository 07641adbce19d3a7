"""Rule `request-client-demanded`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.replies import describe_reply, list_read_by_server
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "request-client-demanded",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request that does not name the client is refused",
    remedy="Answer a request without `io.modelcontextprotocol/clientInfo` in `_meta` with a normal result. Treat "
    "this field as optional.",
    since="2026.2",
    version=1,
    checks=must("META-03", "E", "basic#meta"),
    fix=(
        build_conversation(
            modern_exchange(
                "discover-client-missing", status=400, error={"code": -32602, "message": "clientInfo is missing"}
            )
        ),
        build_conversation(
            modern_exchange(
                "discover-client-missing",
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
    good=[build_conversation(modern_exchange("discover-client-missing", result={}))],
    bad=[build_conversation(modern_exchange("discover-client-missing", status=400, error={"code": -32602}))],
    unjudged=[
        build_conversation(modern_exchange("discover-client-missing", status=503)),
        build_conversation(modern_exchange("discover-client-missing", status=404)),
    ],
)
def request_client_demanded(conversation: Conversation) -> Iterator[Answer]:
    """`clientInfo` is optional, so serve a request without it like any other.

    Only the version and the client's capabilities are required in `_meta`.
    """
    for exchange in list_read_by_server(conversation.conclusive("discover-client-missing"), conversation.recorded):
        if not exchange.succeeded:
            yield exchange, f"{describe_reply(exchange)}, a result expected"
