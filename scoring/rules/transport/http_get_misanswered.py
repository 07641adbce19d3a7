"""Rule `http-get-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.outcome import Severity, Undecided
from scoring.path import clip
from scoring.replies import session_is_lost
from scoring.rule import Answer, must, rule
from scoring.streamable import settled, streamable

_SESSION: Final = {"length": 36, "visible": True, "same_as": None}


@rule(
    "http-get-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A GET is answered neither with an event stream nor with 405",
    since="2026.2",
    version=1,
    checks=must("HTTP-02", "BCD", "basic/transports#listening-for-messages-from-the-server"),
    good=[
        conversation(legacy("stream", verb="GET", form="stream")),
        conversation(legacy("stream", verb="GET", status=405)),
    ],
    bad=[
        conversation(legacy("stream", verb="GET", status=404)),
        conversation(legacy("stream", verb="GET", status=307)),
        conversation(legacy("stream", verb="GET", form="other", headers={"content-type": "text/html"})),
        conversation(
            legacy("stream", verb="GET", status=404, session=_SESSION),
            legacy("version-missing", session=_SESSION, result={}),
        ),
    ],
    unjudged=[
        conversation(stdio("ping", result={})),
        conversation(legacy("stream", verb="GET", status=503)),
        conversation(legacy("stream", verb="GET", status=401)),
        conversation(legacy("stream", verb="GET", status=403)),
        conversation(modern("get", verb="GET", status=405)),
        conversation(
            legacy("stream", verb="GET", status=404, session=_SESSION),
            legacy("version-missing", status=404, session=_SESSION),
        ),
    ],
)
def http_get_misanswered(talk: Conversation) -> Iterator[Answer]:
    """A client may open a stream with GET, to hear what the server says of its own accord.

    It is answered with `text/event-stream`, or with 405 by a server that offers no such stream. Many servers answer
    404, 400 or a web page instead, and a client cannot tell that from a wrong address or a lost session. Answer 405
    when there is nothing to listen to.
    """
    for exchange in settled(streamable(talk), "stream"):
        opened = exchange.status == 200 and exchange.content_type == "text/event-stream"
        if exchange.is_refusal:
            raise Undecided(f"HTTP {exchange.status}")
        if exchange.status == 405 or opened:
            continue
        if session_is_lost(exchange, talk.talk):
            raise Undecided("the session was lost")
        kind = f" with {clip(exchange.content_type) or 'no content type'}" if exchange.status == 200 else ""
        yield exchange, f"HTTP {exchange.status}{kind}, an event stream or 405 expected"
