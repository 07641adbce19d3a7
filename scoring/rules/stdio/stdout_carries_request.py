"""Rule `stdout-carries-request`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange, stdio_exchange
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation


@rule(
    "stdout-carries-request",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Standard output carries a request",
    remedy="Send no requests to the client under revision 2026-07-28. "
    "To ask for input, return a result with `resultType` `input_required` and the questions in `inputRequests`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("IO-04", "E", "basic/transports/stdio#receiving-messages"),
    good=[
        build_conversation(stdio_exchange("discover", revision="E", result={})),
        build_conversation(stdio_exchange("discover", revision="E", message={"method": "notifications/message"})),
    ],
    bad=[build_conversation(stdio_exchange("discover", revision="E", message={"id": 1, "method": "roots/list"}))],
    unjudged=[
        build_conversation(stdio_exchange("initialize", message={"id": 1, "method": "roots/list"})),
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(stdio_exchange("discover", revision="E", failure=("timeout", "no answer"))),
    ],
)
def stdout_carries_request(conversation: Conversation) -> Iterator[Answer]:
    """Since revision 2026-07-28 a server sends no request to the client.

    It returns an `input_required` result instead, and the client repeats its request with the answers. A client of this
    revision cannot answer a request.
    """
    conclusive = [one for one in conversation.over_stdio if not one.unclear]
    if not conclusive:
        raise Undecided("nothing was answered")
    for exchange in conclusive:
        if any(one.is_request for one in exchange.received):
            yield exchange, "a request on standard output, none expected"
