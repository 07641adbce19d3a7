"""Rule `sse-endpoint-elsewhere`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoring.engine.rule import Answer, info, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


def _opened(endpoint: str) -> dict[str, Any]:
    return legacy_exchange("sse-open", transport="sse", verb="GET", form="stream", headers={"x-endpoint": endpoint})


@rule(
    "sse-endpoint-elsewhere",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="The endpoint of HTTP+SSE is on another origin",
    remedy="Set the data of the `endpoint` event to a relative URL, e.g. `/messages?session_id=...`, or to an "
    "absolute URL with the public scheme, host and port of the server.",
    since="2026.2",
    version=1,
    checks=info("SSE-02", "A", "basic/transports#http-with-sse"),
    fix=write_snippet(
        Language.HTTP,
        "First event of the stream",
        before="""
        HTTP/1.1 200 OK
        Content-Type: text/event-stream

        event: endpoint
        data: http://localhost:8080/messages
        """,
        after="""
        HTTP/1.1 200 OK
        Content-Type: text/event-stream

        event: endpoint
        data: /messages
        """,
    ),
    good=[build_conversation(_opened("same-origin"))],
    bad=[build_conversation(_opened("other-origin"))],
    unjudged=[build_conversation(legacy_exchange("initialize", result={})), build_conversation(_opened("none"))],
)
def sse_endpoint_elsewhere(conversation: Conversation) -> Iterator[Answer]:
    """Clients refuse an endpoint on another origin, because it could redirect their messages to any server.

    The usual cause is a proxy: the server names its own address or scheme instead of the public one. A relative address
    is always valid. The specification does not require this, so this check is for information only.
    """
    conclusive = [
        one for one in conversation.recorded.of("sse-open") if one.headers.get("x-endpoint", "none") != "none"
    ]
    if not conclusive:
        raise Inapplicable("no endpoint of HTTP+SSE")
    for exchange in conclusive:
        if exchange.headers["x-endpoint"] == "other-origin":
            yield exchange, "the endpoint is on another origin"
