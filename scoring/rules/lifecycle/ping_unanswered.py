"""Rule `ping-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.replies import read_by_server, reply
from scoring.rule import Answer, must, rule


@rule(
    "ping-unanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A ping is not answered with an empty result",
    since="2026.2",
    version=1,
    checks=must("PING-01", "ABCD", "basic/utilities/ping"),
    good=[conversation(legacy("ping", result={}))],
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
    an error back may take the connection for dead and drop it.
    """
    for exchange in read_by_server(talk.clear("ping"), talk.talk):
        if not exchange.succeeded:
            yield exchange, f"{reply(exchange)}, an empty result expected"
        elif exchange.result != {}:
            yield exchange, "answered with a result that is not the empty object"
