"""Rule `stream-not-primed`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, info, rule
from scoring.streamable import streamable


@rule(
    "stream-not-primed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="A stream does not begin with an event to resume from",
    since="2026.2",
    version=1,
    checks=info("HTTP-08", "D", "basic/transports#sending-messages-to-the-server"),
    good=[conversation(legacy("ping", form="stream", received=[{"text": ""}, {"message": {"id": 1, "result": {}}}]))],
    bad=[conversation(legacy("ping", form="stream", result={}))],
    unjudged=[
        conversation(legacy("ping", result={})),
        conversation(legacy("ping", revision="C", form="stream", result={})),
    ],
)
def stream_not_primed(talk: Conversation) -> Iterator[Answer]:
    """An event with an id and no data at the beginning of a stream lets a client resume when the connection breaks.

    The specification asks for it, but only servers that keep what they sent can do anything with the id, and revision
    2026-07-28 has dropped it. So this is a remark.
    """
    streams = [one for one in streamable(talk).exchanges if one.verb == "POST" and one.form == "stream"]
    told = [one for one in streams if one.received and not one.unclear]
    if not told:
        raise Inapplicable("no answer came as a stream")
    unprimed = (one for one in told if one.received[0].message is not None or one.received[0].text)
    # A server does so with all its streams, or with none: one of them is enough to say.
    for exchange in sorted(unprimed, key=lambda one: one.at)[:1]:
        yield exchange, "the first event is not an empty one"
