"""Rule `sse-endpoint-missing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Inapplicable, Severity
from scoring.path import clip
from scoring.rule import Answer, must, rule
from scoring.streamable import conclusive


def _opened(endpoint: str, kind: str = "text/event-stream", **members: Any) -> dict[str, Any]:
    headers = {"content-type": kind, "x-endpoint": endpoint}
    return legacy("sse-open", transport="sse", verb="GET", form="stream", headers=headers, **members)


@rule(
    "sse-endpoint-missing",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The stream of HTTP+SSE does not begin with an endpoint",
    since="2026.2",
    version=1,
    checks=must("SSE-01", "A", "basic/transports#http-with-sse"),
    good=[conversation(_opened("same-origin")), conversation(_opened("other-origin"))],
    bad=[conversation(_opened("none")), conversation(_opened("same-origin", kind="text/plain"))],
    unjudged=[conversation(legacy("initialize", result={})), conversation(_opened("none", status=503))],
)
def sse_endpoint_missing(talk: Conversation) -> Iterator[Answer]:
    """Under HTTP+SSE the first event, `endpoint`, says where to POST. Without it a client cannot say anything.

    The transport belongs to revision 2024-11-05 and is judged whatever revision was agreed to over it.
    """
    opened = [one for one in talk.talk.of("sse-open") if one.connection.opened]
    if not opened:
        raise Inapplicable("not over HTTP+SSE")
    for exchange in conclusive(talk, opened):
        if exchange.content_type != "text/event-stream":
            yield exchange, f"content type {clip(exchange.content_type) or 'missing'}, an event stream expected"
        elif exchange.headers.get("x-endpoint") == "none":
            yield exchange, "the first event is not the endpoint"
