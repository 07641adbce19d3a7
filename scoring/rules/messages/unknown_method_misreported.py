"""Rule `unknown-method-misreported`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.replies import METHOD_NOT_FOUND, read_by_server, reply
from scoring.rule import Answer, must, rule

_SESSION: Final = {"length": 32, "visible": True, "same_as": None}


@rule(
    "unknown-method-misreported",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An unknown method is not reported as such",
    since="2026.2",
    version=1,
    checks=must("JSON-04", "ABCD", "basic#responses"),
    good=[
        conversation(legacy("unknown-method", error={"code": -32601})),
        conversation(legacy("unknown-method", status=404, error={"code": -32601})),
    ],
    bad=[
        conversation(legacy("unknown-method", error={"code": -32602})),
        conversation(legacy("unknown-method", result={})),
        conversation(legacy("unknown-method", status=400, error={"code": -32600})),
        conversation(
            legacy("unknown-method", session=_SESSION, status=400, error={"code": -32600}),
            legacy("ping", session=_SESSION, result={}),
        ),
    ],
    unjudged=[
        conversation(modern("unknown-method", status=404, error={"code": -32601})),
        conversation(legacy("unknown-method", session=_SESSION, status=404, error={"code": -32600})),
        conversation(legacy("unknown-method", status=404, form="other")),
        conversation(legacy("unknown-method", status=500)),
    ],
)
def unknown_method_misreported(talk: Conversation) -> Iterator[Answer]:
    """A method that the server does not have is answered with error -32601, and no other.

    Clients try what is optional and take -32601 for "not here". Any other error looks like a fault of the request,
    which they repeat or report. Check the method before the parameters.
    """
    found = talk.clear("unknown-method")
    for exchange in read_by_server(found, talk.talk):
        if exchange.code != METHOD_NOT_FOUND:
            yield exchange, f"{reply(exchange)}, error {METHOD_NOT_FOUND} expected"
