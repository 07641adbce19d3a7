"""Rule `http-version-missing-refused`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import exclude_lost_sessions, only_streamable_http
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "http-version-missing-refused",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A request without the version header is refused",
    remedy="Accept a request without `MCP-Protocol-Version`. "
    "Assume the version that was negotiated in the session, or `2025-03-26` if no version is known.",
    since="2026.2",
    version=1,
    checks=should("HTTP-05", "CD", "basic/transports#protocol-version-header"),
    fix=(
        build_conversation(
            legacy_exchange("version-missing", status=400, error={"code": -32600, "message": "No protocol version"})
        ),
        build_conversation(legacy_exchange("version-missing", result={"tools": []})),
    ),
    good=[build_conversation(legacy_exchange("version-missing", error={"code": -32601}))],
    bad=[
        build_conversation(legacy_exchange("version-missing", status=400, error={"code": -32000})),
        build_conversation(legacy_exchange("version-missing", error={"code": -32600})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("version-missing", status=429)),
        build_conversation(
            legacy_exchange("version-missing", status=404, session={"length": 36, "visible": True, "same_as": None})
        ),
    ],
)
def http_version_missing_refused(conversation: Conversation) -> Iterator[Answer]:
    """Accept a request without `MCP-Protocol-Version`: clients of revision 2025-03-26 do not send the header.

    The server then assumes that version, or the negotiated one within a session. A refusal only excludes older clients.
    """
    for exchange in exclude_lost_sessions(only_streamable_http(conversation).conclusive("version-missing")):
        if not exchange.succeeded and exchange.code != -32601:
            yield exchange, f"{describe_reply(exchange)}, an answer under 2025-03-26 expected"
