"""Rule `http-answer-batched`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "http-answer-batched",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="One request is answered with an array",
    remedy="Answer a single request with one JSON-RPC object under revision 2025-06-18 and later. "
    "Do not wrap the response in an array, neither in a JSON body nor in an event.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("HTTP-10", "CDE", "basic/transports/streamable-http#sending-messages"),
    fix=(
        build_conversation(legacy_exchange("ping", batch=True, result={})),
        build_conversation(legacy_exchange("ping", result={})),
    ),
    bad=[build_conversation(legacy_exchange("ping", result={}, batch=True))],
    unjudged=[
        build_conversation(legacy_exchange("ping", revision="B", result={}, batch=True)),
        build_conversation(legacy_exchange("ping", status=404)),
    ],
)
def http_answer_batched(conversation: Conversation) -> Iterator[Answer]:
    """The answer to one request is one object.

    Batches were removed with revision 2025-06-18, and clients that expect an object do not read an array.
    """
    answers = [
        one
        for one in only_streamable_http(conversation).exchanges
        if one.step != "batch" and one.answer and not one.unclear
    ]
    if not answers:
        raise Inapplicable("nothing was answered")
    for exchange in answers:
        if exchange.batch:
            yield exchange, "answered with an array, one object expected"
