"""Rule `request-client-demanded`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, modern
from scoring.outcome import Severity
from scoring.replies import read_by_server, reply
from scoring.rule import Answer, must, rule


@rule(
    "request-client-demanded",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request that does not name the client is refused",
    since="2026.2",
    version=1,
    checks=must("META-03", "E", "basic#meta"),
    good=[conversation(modern("discover-client-missing", result={}))],
    bad=[conversation(modern("discover-client-missing", status=400, error={"code": -32602}))],
    unjudged=[
        conversation(modern("discover-client-missing", status=503)),
        conversation(modern("discover-client-missing", status=404)),
    ],
)
def request_client_demanded(talk: Conversation) -> Iterator[Answer]:
    """`clientInfo` is optional: a client may be configured not to say who it is.

    Serve its requests like any other. What is required in `_meta` are the version and the client's capabilities.
    """
    for exchange in read_by_server(talk.clear("discover-client-missing"), talk.talk):
        if not exchange.succeeded:
            yield exchange, f"{reply(exchange)}, a result expected"
