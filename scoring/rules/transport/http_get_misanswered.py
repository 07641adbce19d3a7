"""Rule `http-get-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.replies import is_session_lost
from scoring.protocol.streamable_http import list_decided_exchanges, only_streamable_http
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text

_SESSION: Final = {"length": 36, "visible": True, "same_as": None}


@rule(
    "http-get-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A GET is answered neither with an event stream nor with 405",
    remedy="Answer GET at the MCP endpoint with HTTP 200 and `Content-Type: text/event-stream`. "
    "If the server offers no such stream, answer with HTTP 405.",
    since="2026.2",
    version=1,
    checks=must("HTTP-02", "BCD", "basic/transports#listening-for-messages-from-the-server"),
    fix=(
        build_conversation(legacy_exchange("stream", status=404)),
        build_conversation(legacy_exchange("stream", status=405)),
    ),
    good=[
        build_conversation(legacy_exchange("stream", verb="GET", form="stream")),
        build_conversation(legacy_exchange("stream", verb="GET", status=405)),
    ],
    bad=[
        build_conversation(legacy_exchange("stream", verb="GET", status=404)),
        build_conversation(legacy_exchange("stream", verb="GET", status=307)),
        build_conversation(legacy_exchange("stream", verb="GET", form="other", headers={"content-type": "text/html"})),
        build_conversation(
            legacy_exchange("stream", verb="GET", status=404, session=_SESSION),
            legacy_exchange("version-missing", session=_SESSION, result={}),
        ),
    ],
    unjudged=[
        build_conversation(stdio_exchange("ping", result={})),
        build_conversation(legacy_exchange("stream", verb="GET", status=503)),
        build_conversation(legacy_exchange("stream", verb="GET", status=401)),
        build_conversation(legacy_exchange("stream", verb="GET", status=403)),
        build_conversation(modern_exchange("get", verb="GET", status=405)),
        build_conversation(
            legacy_exchange("stream", verb="GET", status=404, session=_SESSION),
            legacy_exchange("version-missing", status=404, session=_SESSION),
        ),
    ],
)
def http_get_misanswered(conversation: Conversation) -> Iterator[Answer]:
    """Answer GET with `text/event-stream`, or with HTTP 405 when the server offers no such stream.

    A client may open a stream with GET to receive messages that the server sends without a request. Many servers answer
    404, 400 or a web page instead, and a client cannot distinguish that from a wrong address or a lost session.
    """
    for exchange in list_decided_exchanges(only_streamable_http(conversation), "stream"):
        opened = exchange.status == 200 and exchange.content_type == "text/event-stream"
        if exchange.is_refusal:
            raise Undecided(f"HTTP {exchange.status}")
        if exchange.status == 405 or opened:
            continue
        if is_session_lost(exchange, conversation.recorded):
            raise Undecided("the session was lost")
        kind = f" with {clip_text(exchange.content_type) or 'no content type'}" if exchange.status == 200 else ""
        yield exchange, f"HTTP {exchange.status}{kind}, an event stream or HTTP 405 expected"
