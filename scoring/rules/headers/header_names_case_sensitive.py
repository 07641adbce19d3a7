"""Rule `header-names-case-sensitive`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.replies import describe_reply
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "header-names-case-sensitive",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Headers in upper case are not recognised",
    remedy="Compare the names of request headers without regard to case, so that `MCP-PROTOCOL-VERSION` is read as "
    "`mcp-protocol-version`.",
    since="2026.2",
    version=1,
    checks=must("HDR-07", "E", "basic/transports/streamable-http#case-sensitivity"),
    fix=(
        build_conversation(
            modern_exchange(
                "discover-headers-uppercase",
                status=400,
                error={"code": -32020, "message": "MCP-Protocol-Version is missing"},
            )
        ),
        build_conversation(
            modern_exchange(
                "discover-headers-uppercase",
                result={
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
    ),
    good=[
        build_conversation(modern_exchange("discover-headers-uppercase", result={"supportedVersions": ["2026-07-28"]}))
    ],
    bad=[
        build_conversation(modern_exchange("discover-headers-uppercase", status=400, error={"code": -32020})),
        build_conversation(modern_exchange("discover-headers-uppercase", status=404, form="other")),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("discover-headers-uppercase", status=502)),
    ],
)
def header_names_case_sensitive(conversation: Conversation) -> Iterator[Answer]:
    """Header names are case-insensitive: `MCP-PROTOCOL-VERSION` is `mcp-protocol-version`.

    Libraries and proxies may change the case. A server that compares the case serves some clients and refuses others.
    """
    for exchange in conversation.conclusive("discover-headers-uppercase"):
        if not exchange.succeeded:
            yield exchange, f"{describe_reply(exchange)}, a result expected"
