"""Rule `stream-left-open`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "stream-left-open",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A stream stays open after its answer",
    remedy="Close the event stream of a POST immediately after its JSON-RPC response. "
    "Send later messages of the server on another stream.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=should("HTTP-07", "BCDE", "basic/transports/streamable-http#receiving-messages"),
    good=[build_conversation(legacy_exchange("ping", form="stream", result={}, ended=True))],
    bad=[build_conversation(modern_exchange("discover", form="stream", result={}, ended=False))],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(legacy_exchange("ping", form="stream", result={})),
    ],
)
def stream_left_open(conversation: Conversation) -> Iterator[Answer]:
    """The stream of an answer ends with the answer, so close the response once it is sent.

    A stream that stays open keeps a connection on both sides, and clients that read to the end wait in vain. Send other
    messages of the server on another stream.
    """
    streams = [
        one for one in only_streamable_http(conversation).exchanges if one.verb == "POST" and one.form == "stream"
    ]
    watched = [one for one in streams if one.step != "listen" and one.ended is not None and not one.unclear]
    if not watched:
        raise Inapplicable("no answer came as a stream whose end was watched")
    for exchange in watched:
        if exchange.answer and not exchange.ended:
            yield exchange, "still open 3 seconds after the answer"
