"""Rule `stdout-carries-request`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, modern, stdio
from scoring.outcome import Severity, Undecided
from scoring.rule import Answer, must, rule


@rule(
    "stdout-carries-request",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Standard output carries a request",
    since="2026.2",
    version=1,
    checks=must("IO-04", "E", "basic/transports/stdio#receiving-messages"),
    good=[
        conversation(stdio("discover", revision="E", result={})),
        conversation(stdio("discover", revision="E", message={"method": "notifications/message"})),
    ],
    bad=[conversation(stdio("discover", revision="E", message={"id": 1, "method": "roots/list"}))],
    unjudged=[
        conversation(stdio("initialize", message={"id": 1, "method": "roots/list"})),
        conversation(modern("discover", result={})),
        conversation(stdio("discover", revision="E", failure=("timeout", "no answer"))),
    ],
)
def stdout_carries_request(talk: Conversation) -> Iterator[Answer]:
    """Since revision 2026-07-28 a server asks the client nothing by itself.

    What it needs it puts into an `input_required` result, and the client asks again with the answers. A client of this
    revision has no way to answer a request.
    """
    told = [one for one in talk.over_stdio if not one.unclear]
    if not told:
        raise Undecided("nothing was answered")
    for exchange in told:
        if any(one.is_request for one in exchange.received):
            yield exchange, "a request on standard output, none expected"
