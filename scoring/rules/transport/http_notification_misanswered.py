"""Rule `http-notification-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.protocol.replies import is_session_lost
from scoring.protocol.streamable_http import exclude_lost_sessions, only_streamable_http
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation

_SESSION: Final = {"length": 36, "visible": True, "same_as": None}


@rule(
    "http-notification-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A notification is not answered with 202",
    remedy="Answer each notification, such as `notifications/initialized`, with HTTP 202 and an empty body.",
    since="2026.2",
    version=1,
    checks=must("HTTP-06", "BCD", "basic/transports#sending-messages-to-the-server"),
    fix=(
        build_conversation(legacy_exchange("initialized", status=200, form="other")),
        build_conversation(legacy_exchange("initialized", status=202, form="other")),
    ),
    good=[build_conversation(legacy_exchange("initialized", status=202, form="none"))],
    bad=[
        build_conversation(legacy_exchange("initialized", status=200, form="none")),
        build_conversation(legacy_exchange("initialized", status=204, form="none")),
        build_conversation(legacy_exchange("initialized", status=400, error={"code": -32600})),
        build_conversation(legacy_exchange("initialized", status=202, received=[{"text": "Accepted"}])),
        build_conversation(
            legacy_exchange("initialized", status=400, session=_SESSION, error={"code": -32000}),
            legacy_exchange("ping", session=_SESSION, result={}),
        ),
    ],
    unjudged=[
        build_conversation(
            legacy_exchange("initialized", status=400, session=_SESSION, error={"code": -32000}),
            legacy_exchange("ping", status=400, session=_SESSION, error={"code": -32000}),
        ),
        build_conversation(legacy_exchange("initialized", status=500)),
        build_conversation(stdio_exchange("initialized", status=None)),
        build_conversation(legacy_exchange("initialized", status=404, session=_SESSION)),
    ],
)
def http_notification_misanswered(conversation: Conversation) -> Iterator[Answer]:
    """Answer a notification with HTTP 202 and no body, because it has no answer of its own.

    Clients treat any other status as a failure, or try to read a message. `notifications/initialized` ends the
    handshake, so a server that refuses it cannot be used. A body with 202 is tolerated.
    """
    for exchange in exclude_lost_sessions(only_streamable_http(conversation).conclusive("initialized")):
        if is_session_lost(exchange, conversation.recorded):
            raise Undecided("the session was lost")
        if exchange.status != 202:
            yield exchange, f"HTTP {exchange.status}, HTTP 202 expected"
        elif any(one.message is not None or one.text.strip() for one in exchange.received):
            yield Tolerated("HTTP 202 with a body, no body expected", exchange)
