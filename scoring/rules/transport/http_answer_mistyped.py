"""Rule `http-answer-mistyped`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.model import Reason
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text

_TYPES: Final = frozenset({"application/json", "text/event-stream"})


@rule(
    "http-answer-mistyped",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An answer over HTTP is neither JSON nor an event stream",
    remedy="Answer each request with a JSON object and `Content-Type: application/json`, or with an event stream and "
    "`Content-Type: text/event-stream`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("HTTP-01", "BCDE", "basic/transports/streamable-http#sending-messages"),
    fix=(
        build_conversation(legacy_exchange("ping", headers={"content-type": "text/html"}, result={})),
        build_conversation(legacy_exchange("ping", headers={"content-type": "application/json"}, result={})),
    ),
    good=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(
            modern_exchange("discover", result={}, headers={"content-type": "text/event-stream; charset=utf-8"})
        ),
    ],
    bad=[
        build_conversation(legacy_exchange("ping", result={}, headers={"content-type": "text/plain"})),
        build_conversation(legacy_exchange("ping", result={}, headers={})),
        build_conversation(
            legacy_exchange("ping", form="other", headers={"content-type": "text/html"}, failure=("not_mcp", "no JSON"))
        ),
    ],
    unjudged=[
        build_conversation(stdio_exchange("ping", result={})),
        build_conversation(legacy_exchange("ping", status=401)),
        build_conversation(legacy_exchange("ping", transport="sse", headers={"content-type": "text/plain"})),
        build_conversation(legacy_exchange("ping", headers={}, failure=("timeout", "no answer"))),
        build_conversation(legacy_exchange("malformed", headers={"content-type": "text/plain"})),
    ],
)
def http_answer_mistyped(conversation: Conversation) -> Iterator[Answer]:
    """Answer a request with `application/json` or `text/event-stream`: clients select the parser by the type.

    With any other type, or none, most clients report an unexpected content type or wait until they time out, although
    the answer is there. A body that is not a request may be answered with any type.
    """
    posted = (one for one in only_streamable_http(conversation).exchanges if one.verb == "POST")
    requests = (one for one in posted if one.is_question and one.step != "malformed")
    answers = [one for one in requests if one.status == 200 and (one.failure == Reason.NOT_MCP or not one.unclear)]
    if not answers:
        raise Inapplicable("no request was answered with 200")
    for exchange in answers:
        if exchange.content_type not in _TYPES:
            yield (
                exchange,
                f"content type {clip_text(exchange.content_type) or 'missing'}, JSON or an event stream expected",
            )
