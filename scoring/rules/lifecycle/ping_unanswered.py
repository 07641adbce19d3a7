"""Rule `ping-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import describe_reply, list_read_by_server
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_ABOUT: Final = frozenset({"_meta", "resultType"})
"""Members that any result may have, and that say nothing themselves."""


@rule(
    "ping-unanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A ping is not answered with an empty result",
    remedy="Answer `ping` with the empty result `{}`. Add no members to the result except `_meta`.",
    since="2026.2",
    version=1,
    checks=must("PING-01", "ABCD", "basic/utilities/ping"),
    fix=(
        build_conversation(legacy_exchange("ping", result={"pong": True})),
        build_conversation(legacy_exchange("ping", result={})),
    ),
    good=[
        build_conversation(legacy_exchange("ping", result={"_meta": {"io.example/took": 1}, "resultType": "complete"}))
    ],
    bad=[
        build_conversation(legacy_exchange("ping", error={"code": -32601, "message": "Method not found"})),
        build_conversation(legacy_exchange("ping", result="pong")),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(legacy_exchange("initialize", result={}), depth="core"),
        build_conversation(legacy_exchange("ping", status=503)),
        build_conversation(legacy_exchange("ping", status=404)),
    ],
)
def ping_unanswered(conversation: Conversation) -> Iterator[Answer]:
    """Answer a ping with an empty result: either side uses it to check that the other still responds.

    It is the only request that every server of the handshake era must answer. A client that receives an error may close
    the connection. Metadata, which any result may have, does not count as content.
    """
    for exchange in list_read_by_server(conversation.conclusive("ping"), conversation.recorded):
        if not exchange.succeeded:
            yield exchange, f"{describe_reply(exchange)}, an empty result expected"
        elif not isinstance(exchange.result, Mapping) or exchange.result.keys() - _ABOUT:
            yield exchange, "the result is not an empty object"
