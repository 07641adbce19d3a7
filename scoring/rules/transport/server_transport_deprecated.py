"""Rule `server-transport-deprecated`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.protocol.streamable_http import STREAMABLE
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "server-transport-deprecated",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="The server offers only the deprecated HTTP+SSE",
    remedy="Serve streamable HTTP, and register it in server.json with the type `streamable-http`. "
    "Keep HTTP+SSE only as long as clients need it.",
    since="2026.2",
    version=1,
    checks=should("DEP-01", "E", "deprecated"),
    fix=write_snippet(
        Language.JSON,
        "Remote in `server.json`",
        before='{"type": "sse", "url": "https://notes.example/sse"}',
        after='{"type": "streamable-http", "url": "https://notes.example/mcp"}',
    ),
    good=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(legacy_exchange("initialize", result={}), legacy_exchange("sse-open", transport="sse")),
    ],
    bad=[build_conversation(legacy_exchange("sse-open", transport="sse"))],
    unjudged=[build_conversation(stdio_exchange("initialize", result={}))],
)
def server_transport_deprecated(conversation: Conversation) -> Iterator[Answer]:
    """HTTP+SSE is deprecated since revision 2025-03-26 and may be removed, and clients stop supporting it.

    Serve streamable HTTP, at the same address or beside it; the SDKs can do both for a while. Servers of every revision
    are judged, because this rule is about those that have not migrated.
    """
    opened = {one.transport for one in conversation.recorded.connections if one.opened}
    if not opened & {"sse", STREAMABLE}:
        raise Inapplicable("not over HTTP")
    if "sse" in opened and STREAMABLE not in opened:
        yield "only HTTP+SSE, streamable HTTP expected"
