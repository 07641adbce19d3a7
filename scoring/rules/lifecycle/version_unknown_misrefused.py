"""Rule `version-unknown-misrefused`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.replies import list_read_by_server, list_unexpected_replies
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "version-unknown-misrefused",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request with an unknown version is not refused with 400 and -32022",
    remedy="Answer an unsupported version with error -32022 and, over HTTP, status 400. Put the supported "
    "versions into `data.supported` and the requested version into `data.requested`.",
    since="2026.2",
    version=1,
    checks=must("VER-01", "E", "basic/versioning#protocol-version-negotiation"),
    fix=(
        build_conversation(
            modern_exchange(
                "discover-version-unknown",
                status=400,
                error={"code": -32602, "message": "Unsupported protocol version"},
            )
        ),
        build_conversation(
            modern_exchange(
                "discover-version-unknown",
                status=400,
                error={
                    "code": -32022,
                    "message": "Unsupported protocol version",
                    "data": {"supported": ["2026-07-28"], "requested": "1900-01-01"},
                },
            )
        ),
    ),
    good=[
        build_conversation(
            modern_exchange(
                "discover-version-unknown",
                status=400,
                error={"code": -32022, "data": {"supported": ["2026-07-28"], "requested": "1900-01-01"}},
            )
        )
    ],
    bad=[
        build_conversation(modern_exchange("discover-version-unknown", result={})),
        build_conversation(modern_exchange("discover-version-unknown", status=400, error={"code": -32602})),
        build_conversation(
            modern_exchange(
                "discover-version-unknown", error={"code": -32022, "data": {"supported": [], "requested": "1900-01-01"}}
            )
        ),
        build_conversation(modern_exchange("discover-version-unknown", status=400, error={"code": -32022})),
        build_conversation(
            modern_exchange(
                "discover-version-unknown", status=400, error={"code": -32022, "data": {"supported": ["2026-07-28"]}}
            )
        ),
        build_conversation(
            modern_exchange(
                "discover-version-unknown",
                status=400,
                sent_headers={"mcp-protocol-version": "1900-01-01"},
                error={"code": -32022, "data": {"supported": ["2026-07-28"], "requested": "2026-07-28"}},
            )
        ),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover-version-unknown", status=503)),
        build_conversation(modern_exchange("discover-version-unknown", status=400)),
        build_conversation(modern_exchange("discover", result={}), depth="core"),
    ],
)
def version_unknown_misrefused(conversation: Conversation) -> Iterator[Answer]:
    """Error -32022 lists the supported versions, so that a client can repeat its request with one of them.

    Over HTTP the status is 400. `data.supported` lists the versions, and `data.requested` repeats the requested
    version. After any other answer the client does not know the cause.
    """
    conclusive = list_read_by_server(conversation.conclusive("discover-version-unknown"), conversation.recorded)
    wrong = tuple(list_unexpected_replies(conclusive, status=400, code=-32022))
    yield from wrong
    for exchange in conclusive:
        data = exchange.error.get("data") if exchange.error and exchange.code == -32022 else None
        if exchange.code == -32022 and not _names_versions(data):
            yield exchange, "data.supported is not a list of versions"
        elif isinstance(data, Mapping) and not _is_asked(data.get("requested"), exchange):
            yield exchange, "data.requested is not the requested version"


def _is_asked(requested: Json, exchange: Exchange) -> bool:
    return isinstance(requested, str) and requested == exchange.sent_headers.get("mcp-protocol-version", requested)


def _names_versions(data: Json) -> bool:
    supported = data.get("supported") if isinstance(data, Mapping) else None
    return isinstance(supported, list) and bool(supported) and all(isinstance(one, str) for one in supported)
