"""Rule `stream-buffering-allowed`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "stream-buffering-allowed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="Proxies may buffer a stream",
    remedy="Add the header `X-Accel-Buffering: no` to each response with `Content-Type: text/event-stream`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=should("STRM-02", "E", "basic/transports/streamable-http#receiving-messages"),
    fix=(
        build_conversation(
            modern_exchange("call-nonexistent", form="stream", error={"code": -32602, "message": "No tool add"})
        ),
        build_conversation(
            modern_exchange(
                "call-nonexistent",
                form="stream",
                headers={"content-type": "text/event-stream", "x-accel-buffering": "no"},
                error={"code": -32602, "message": "No tool add"},
            )
        ),
    ),
    good=[
        build_conversation(modern_exchange("discover", form="stream", result={}, headers={"x-accel-buffering": "No"}))
    ],
    bad=[build_conversation(modern_exchange("discover", form="stream", result={}))],
    unjudged=[build_conversation(modern_exchange("discover", result={}))],
)
def stream_buffering_allowed(conversation: Conversation) -> Iterator[Answer]:
    """Send `X-Accel-Buffering: no`, so that a proxy such as nginx does not buffer the stream.

    Otherwise progress arrives together with the result.
    """
    streams = [
        one for one in only_streamable_http(conversation).exchanges if one.verb == "POST" and one.form == "stream"
    ]
    conclusive = [one for one in streams if not one.unclear]
    if not conclusive:
        raise Inapplicable("no answer came as a stream")
    silent = (one for one in conclusive if one.headers.get("x-accel-buffering", "").strip().lower() != "no")
    # A server does so with all its streams, or with none: one of them is enough to say.
    for exchange in sorted(silent, key=lambda one: one.at)[:1]:
        yield exchange, "no header X-Accel-Buffering: no"
