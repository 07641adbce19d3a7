"""Rule `http-version-unknown-accepted`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.conversation import Conversation


@rule(
    "http-version-unknown-accepted",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request under an unknown protocol version is accepted",
    remedy="Compare `MCP-Protocol-Version` with the versions that the server supports. "
    "Answer a request with any other version with HTTP 400.",
    since="2026.2",
    version=1,
    checks=must("HTTP-04", "CD", "basic/transports#protocol-version-header"),
    fix=(
        build_conversation(legacy_exchange("version-unknown", result={})),
        build_conversation(
            legacy_exchange(
                "version-unknown", status=400, error={"code": -32600, "message": "Unsupported protocol version"}
            )
        ),
    ),
    good=[build_conversation(legacy_exchange("version-unknown", status=400, error={"code": -32000}))],
    bad=[build_conversation(legacy_exchange("version-unknown", status=404))],
    unjudged=[
        build_conversation(legacy_exchange("version-unknown", status=502)),
        build_conversation(stdio_exchange("ping", result={})),
        build_conversation(legacy_exchange("version-unknown", revision="B", result={})),
    ],
)
def http_version_unknown_accepted(conversation: Conversation) -> Iterator[Answer]:
    """Answer a request whose `MCP-Protocol-Version` the server does not support with HTTP 400.

    A server that serves such a request guesses what the client meant. Compare the header with the versions that the
    server negotiates. Any other refusal than 400 is tolerated.
    """
    for exchange in only_streamable_http(conversation).conclusive("version-unknown"):
        if exchange.status is not None and exchange.status >= 400:
            if exchange.status != 400:
                yield Tolerated(f"HTTP {exchange.status}, HTTP 400 expected", exchange)
        else:
            yield exchange, f"HTTP {exchange.status}, HTTP 400 expected for an unknown version"
