"""Rule `sse-endpoint-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.streamable_http import list_conclusive_exchanges
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text


def _opened(endpoint: str, kind: str = "text/event-stream", **members: Any) -> dict[str, Any]:
    headers = {"content-type": kind, "x-endpoint": endpoint}
    return legacy_exchange("sse-open", transport="sse", verb="GET", form="stream", headers=headers, **members)


@rule(
    "sse-endpoint-missing",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The stream of HTTP+SSE does not begin with an endpoint",
    remedy="Answer the GET with `Content-Type: text/event-stream`. "
    "Send the event `endpoint` first, with the URL for POST as its data.",
    since="2026.2",
    version=1,
    checks=must("SSE-01", "A", "basic/transports#http-with-sse"),
    fix=write_snippet(
        Language.HTTP,
        "First event of the stream",
        before="""
        HTTP/1.1 200 OK
        Content-Type: text/plain

        ready
        """,
        after="""
        HTTP/1.1 200 OK
        Content-Type: text/event-stream

        event: endpoint
        data: /messages
        """,
    ),
    good=[build_conversation(_opened("same-origin")), build_conversation(_opened("other-origin"))],
    bad=[build_conversation(_opened("none")), build_conversation(_opened("same-origin", kind="text/plain"))],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(_opened("none", status=503)),
    ],
)
def sse_endpoint_missing(conversation: Conversation) -> Iterator[Answer]:
    """The first event of HTTP+SSE is `endpoint`, which names the address for POST; without it a client cannot send.

    The transport belongs to revision 2024-11-05 and is judged whatever revision was agreed.
    """
    opened = [one for one in conversation.recorded.of("sse-open") if one.connection.opened]
    if not opened:
        raise Inapplicable("not over HTTP+SSE")
    for exchange in list_conclusive_exchanges(conversation, opened):
        if exchange.content_type != "text/event-stream":
            yield exchange, f"content type {clip_text(exchange.content_type) or 'missing'}, an event stream expected"
        elif exchange.headers.get("x-endpoint") == "none":
            yield exchange, "the first event is not the endpoint"
