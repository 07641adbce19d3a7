"""Rule `unknown-method-unrefused`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.outcome import Severity
from scoring.replies import METHOD_NOT_FOUND, NOT_FOUND, keeps_id, unlike
from scoring.rule import Answer, must, rule

_ERROR: Final[dict[str, Any]] = {"code": -32601, "message": "Method not found"}
_SENT: Final = {"jsonrpc": "2.0", "id": "hallmark-id", "method": "hallmark/unknown"}
_RIGHT: Final = {"jsonrpc": "2.0", "id": "hallmark-id", "error": _ERROR}


@rule(
    "unknown-method-unrefused",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An unknown method is not refused with 404 and -32601",
    since="2026.2",
    version=1,
    checks=must("METH-01", "E", "basic/transports/streamable-http#protocol-version-header"),
    good=[
        conversation(modern("unknown-method", sent=_SENT, status=404, message=_RIGHT)),
        conversation(stdio("unknown-method", revision="E", sent=_SENT, message=_RIGHT)),
    ],
    bad=[
        conversation(modern("unknown-method", sent=_SENT, status=200, message=_RIGHT)),
        conversation(modern("unknown-method", sent=_SENT, status=404, message={**_RIGHT, "id": None})),
        conversation(modern("unknown-method", sent=_SENT, status=404, message={"jsonrpc": "2.0", "error": _ERROR})),
        conversation(modern("unknown-method", sent=_SENT, status=404, form="other")),
        conversation(modern("unknown-method", sent=_SENT, status=404, message={**_RIGHT, "error": {"code": -32602}})),
    ],
    unjudged=[
        conversation(legacy("unknown-method", sent=_SENT, status=404, message=_RIGHT)),
        conversation(modern("discover", result={}), depth="core"),
        conversation(modern("unknown-method", sent=_SENT, status=403)),
    ],
)
def unknown_method_unrefused(talk: Conversation) -> Iterator[Answer]:
    """A method that the server does not have is answered with HTTP 404, error -32601 and the id of the request.

    The error tells a client that the method is missing, not the endpoint: on a bare 404 it falls back to a transport of
    years ago, and without the id it waits for an answer that has already come.
    """
    for exchange in talk.clear("unknown-method"):
        if wrong := next(unlike([exchange], status=NOT_FOUND, code=METHOD_NOT_FOUND), None):
            yield wrong
        elif not keeps_id(exchange):
            yield exchange, "the answer does not have the id of the request"
