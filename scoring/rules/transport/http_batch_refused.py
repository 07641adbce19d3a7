"""Rule `http-batch-refused`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import exclude_lost_sessions, only_streamable_http
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation


@rule(
    "http-batch-refused",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A batch of requests is refused",
    remedy="Accept an array of requests in a POST under revision 2025-03-26, and answer each request in it. "
    "If the server reads no arrays, remove `2025-03-26` from the versions that it negotiates.",
    since="2026.2",
    version=1,
    checks=must("HTTP-11", "B", "basic#batching"),
    fix=(
        build_conversation(
            legacy_exchange("batch", revision="B", status=400, error={"code": -32600, "message": "Invalid request"})
        ),
        build_conversation(legacy_exchange("batch", revision="B", batch=True, result={})),
    ),
    good=[
        build_conversation(legacy_exchange("batch", revision="B", result={}, batch=True)),
        build_conversation(legacy_exchange("batch", revision="B", form="stream", result={})),
    ],
    bad=[
        build_conversation(legacy_exchange("batch", revision="B", status=400, error={"code": -32600})),
        build_conversation(legacy_exchange("batch", revision="B", status=415)),
        build_conversation(legacy_exchange("batch", revision="B", status=202, form="none")),
    ],
    unjudged=[
        build_conversation(legacy_exchange("batch", revision="C", status=400)),
        build_conversation(legacy_exchange("batch", revision="B", form="stream")),
        build_conversation(
            legacy_exchange("batch", revision="B", status=404, session={"length": 36, "visible": True, "same_as": None})
        ),
    ],
)
def http_batch_refused(conversation: Conversation) -> Iterator[Answer]:
    """Revision 2025-03-26 is the only one with batches, and servers that support it must accept them.

    A server that does not read arrays should not agree to that version: leave it out of the versions that it
    negotiates. Several SDKs agree to it and refuse batches, which few clients ever sent, so a refusal is tolerated. A
    missing answer is not.
    """
    for exchange in exclude_lost_sessions(only_streamable_http(conversation).conclusive("batch")):
        if exchange.succeeded or exchange.batch:
            continue
        if exchange.form == "stream" and exchange.answer is None:
            raise Undecided("the stream ended without an answer")
        message = f"{describe_reply(exchange)}, an answer to the ping in the batch expected"
        refused = exchange.error is not None or (exchange.status or 0) >= 400
        yield Tolerated(message, exchange) if refused else (exchange, message)
