"""Rule `modern-get-allowed`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "modern-get-allowed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="GET and DELETE are not refused with 405",
    remedy="Answer GET and DELETE at the MCP endpoint with HTTP 405 and the header `Allow: POST`.",
    since="2026.2",
    version=1,
    checks=should("HTTPM-01", "E", "basic/transports/streamable-http#earlier-streamable-http-revisions"),
    fix=(
        build_conversation(modern_exchange("get", status=404)),
        build_conversation(modern_exchange("get", status=405, headers={"allow": "POST"})),
    ),
    good=[
        build_conversation(
            modern_exchange("get", verb="GET", status=405), modern_exchange("delete", verb="DELETE", status=405)
        )
    ],
    bad=[
        build_conversation(modern_exchange("get", verb="GET", status=404)),
        build_conversation(modern_exchange("delete", verb="DELETE", form="none")),
    ],
    unjudged=[
        build_conversation(modern_exchange("get", verb="GET", status=404), legacy_exchange("initialize", result={})),
        build_conversation(modern_exchange("get", verb="GET", status=401)),
    ],
)
def modern_get_allowed(conversation: Conversation) -> Iterator[Answer]:
    """Answer GET and DELETE with HTTP 405, because revision 2026-07-28 removed both.

    Older clients open a stream with GET and end a session with DELETE. After 404 they look for the server elsewhere,
    and after 200 they wait for a stream without messages. A server that also supports an older revision needs both and
    is not judged.
    """
    if conversation.is_dual_era:
        raise Inapplicable("the server also supports an older revision")
    for exchange in only_streamable_http(conversation).conclusive("get", "delete"):
        if exchange.status != 405:
            yield exchange, f"HTTP {exchange.status}, HTTP 405 expected"
