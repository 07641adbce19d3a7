"""Rule `stream-carries-request`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "stream-carries-request",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A stream carries a request of the server",
    remedy="Send no requests to the client under revision 2026-07-28. "
    "To ask for input, return a result with `resultType` `input_required` and the questions in `inputRequests`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("STRM-01", "E", "basic/transports/streamable-http#receiving-messages"),
    good=[
        build_conversation(modern_exchange("discover", form="stream", result={})),
        build_conversation(modern_exchange("list-tools", form="stream", message={"method": "notifications/message"})),
    ],
    bad=[build_conversation(modern_exchange("discover", form="stream", message={"id": 7, "method": "ping"}))],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(legacy_exchange("ping", form="stream", message={"id": 7, "method": "ping"})),
    ],
)
def stream_carries_request(conversation: Conversation) -> Iterator[Answer]:
    """Since revision 2026-07-28 a server sends no request to the client on a stream.

    It returns an `input_required` result instead, and the client repeats its request with the answers. A client of this
    revision cannot answer a request.
    """
    streams = [
        one for one in only_streamable_http(conversation).exchanges if one.verb == "POST" and one.form == "stream"
    ]
    conclusive = [one for one in streams if not one.unclear or _asks(one)]
    if not conclusive:
        raise Inapplicable("no answer came as a stream")
    for exchange in conclusive:
        if _asks(exchange):
            yield exchange, "a request on the stream, none expected"


def _asks(exchange: Exchange) -> bool:
    """Also on a stream that ended without an answer: what was asked was asked."""
    return any(one.is_request for one in exchange.received)
