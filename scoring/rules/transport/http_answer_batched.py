"""Rule `http-answer-batched`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, must, rule
from scoring.streamable import streamable


@rule(
    "http-answer-batched",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="One request is answered with an array",
    since="2026.2",
    version=1,
    checks=must("HTTP-10", "CDE", "basic/transports/streamable-http#sending-messages"),
    good=[conversation(legacy("ping", result={}))],
    bad=[conversation(legacy("ping", result={}, batch=True))],
    unjudged=[
        conversation(legacy("ping", revision="B", result={}, batch=True)),
        conversation(legacy("ping", status=404)),
    ],
)
def http_answer_batched(talk: Conversation) -> Iterator[Answer]:
    """The answer to one request is one object.

    Batches left the protocol with revision 2025-06-18, and clients that look for an object do not find one in an array
    of one.
    """
    answers = [one for one in streamable(talk).exchanges if one.step != "batch" and one.answer and not one.unclear]
    if not answers:
        raise Inapplicable("nothing was answered")
    for exchange in answers:
        if exchange.batch:
            yield exchange, "answered with an array, one object expected"
