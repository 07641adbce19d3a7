"""Rule `http-notification-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, stdio
from scoring.outcome import Severity, Tolerated
from scoring.rule import Answer, must, rule
from scoring.streamable import in_session, streamable


@rule(
    "http-notification-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A notification is not answered with 202",
    since="2026.2",
    version=1,
    checks=must("HTTP-06", "BCD", "basic/transports#sending-messages-to-the-server"),
    good=[conversation(legacy("initialized", status=202, form="none"))],
    bad=[
        conversation(legacy("initialized", status=200, form="none")),
        conversation(legacy("initialized", status=204, form="none")),
        conversation(legacy("initialized", status=400, error={"code": -32600})),
        conversation(legacy("initialized", status=202, received=[{"text": "Accepted"}])),
    ],
    unjudged=[
        conversation(legacy("initialized", status=500)),
        conversation(stdio("initialized", status=None)),
        conversation(legacy("initialized", status=404, session={"length": 36, "visible": True, "same_as": None})),
    ],
)
def http_notification_misanswered(talk: Conversation) -> Iterator[Answer]:
    """A notification has no answer, so HTTP has to say that it arrived: 202 and no body.

    Clients take anything else for a failure, or try to read a message where there is none. `notifications/initialized`
    ends the handshake, so a server that refuses it cannot be used. A body under 202 gets a remark only.
    """
    for exchange in in_session(streamable(talk).clear("initialized")):
        if exchange.status != 202:
            yield exchange, f"HTTP {exchange.status}, 202 expected"
        elif any(one.message is not None or one.text.strip() for one in exchange.received):
            yield Tolerated("202 with a body, none expected", exchange)
