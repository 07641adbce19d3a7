"""Rule `malformed-request-accepted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.outcome import Severity, Undecided
from scoring.replies import BAD_REQUEST, reply
from scoring.rule import Answer, must, rule

_CODES: Final = frozenset({-32700, -32600})


@rule(
    "malformed-request-accepted",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request that is no JSON is not refused",
    since="2026.2",
    version=1,
    checks=must("JSON-03", "ABCDE", "basic#messages"),
    good=[
        conversation(legacy("malformed", status=400, form="other")),
        conversation(modern("malformed", error={"code": -32700})),
        conversation(stdio("malformed", error={"code": -32600})),
    ],
    bad=[
        conversation(legacy("malformed", result={})),
        conversation(legacy("malformed", status=202, form="none")),
        conversation(modern("malformed", error={"code": -32603})),
    ],
    unjudged=[
        conversation(legacy("ping", result={})),
        conversation(legacy("malformed", status=500)),
        conversation(legacy("malformed", transport="sse", status=202, form="none")),
    ],
)
def malformed_request_accepted(talk: Conversation) -> Iterator[Answer]:
    """A body that is not JSON is answered with an HTTP error, or with error -32700 (parse error) or -32600.

    A server that takes it as if nothing were wrong hides the fault from whoever has to find it, and one that calls it
    an internal error sends its own maintainer to look for it.
    """
    judged = [one for one in talk.clear("malformed") if one.connection.transport == "streamable-http" or one.answer]
    if not judged:
        raise Undecided("no answer on the other channel")
    for exchange in judged:
        if (exchange.status or 0) < BAD_REQUEST and exchange.code not in _CODES:
            yield exchange, f"{reply(exchange)}, HTTP 400 or error -32700 expected"
