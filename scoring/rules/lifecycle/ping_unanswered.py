"""Rule `ping-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.replies import read_by_server, reply
from scoring.rule import Answer, must, rule

_ABOUT: Final = frozenset({"_meta", "resultType"})
"""Members that any result may have, and that say nothing themselves."""


@rule(
    "ping-unanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A ping is not answered with an empty result",
    since="2026.2",
    version=1,
    checks=must("PING-01", "ABCD", "basic/utilities/ping"),
    good=[
        conversation(legacy("ping", result={})),
        conversation(legacy("ping", result={"_meta": {"io.example/took": 1}, "resultType": "complete"})),
    ],
    bad=[
        conversation(legacy("ping", error={"code": -32601, "message": "Method not found"})),
        conversation(legacy("ping", result="pong")),
        conversation(legacy("ping", result={"pong": True})),
    ],
    unjudged=[
        conversation(modern("discover", result={})),
        conversation(legacy("initialize", result={}), depth="core"),
        conversation(legacy("ping", status=503)),
        conversation(legacy("ping", status=404)),
    ],
)
def ping_unanswered(talk: Conversation) -> Iterator[Answer]:
    """A ping is how either side learns that the other still listens.

    It is the one request that every server of the handshake era has to answer, with an empty result. A client that gets
    an error back may take the connection for dead and drop it. Metadata, which any result may have, is no content.
    """
    for exchange in read_by_server(talk.clear("ping"), talk.talk):
        if not exchange.succeeded:
            yield exchange, f"{reply(exchange)}, an empty result expected"
        elif not isinstance(exchange.result, Mapping) or exchange.result.keys() - _ABOUT:
            yield exchange, "answered with a result that is not the empty object"
