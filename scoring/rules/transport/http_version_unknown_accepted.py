"""Rule `http-version-unknown-accepted`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, stdio
from scoring.outcome import Severity, Tolerated
from scoring.rule import Answer, must, rule
from scoring.streamable import streamable


@rule(
    "http-version-unknown-accepted",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request under an unknown protocol version is accepted",
    since="2026.2",
    version=1,
    checks=must("HTTP-04", "CD", "basic/transports#protocol-version-header"),
    good=[conversation(legacy("version-unknown", status=400, error={"code": -32000}))],
    bad=[conversation(legacy("version-unknown", result={})), conversation(legacy("version-unknown", status=404))],
    unjudged=[
        conversation(legacy("version-unknown", status=502)),
        conversation(stdio("ping", result={})),
        conversation(legacy("version-unknown", revision="B", result={})),
    ],
)
def http_version_unknown_accepted(talk: Conversation) -> Iterator[Answer]:
    """`MCP-Protocol-Version` says which version a request is written in; one that the server does not know is 400.

    A server that serves such a request guesses what the client meant. Compare the header with the versions that the
    server negotiates. Any other refusal than 400 gets a remark only.
    """
    for exchange in streamable(talk).clear("version-unknown"):
        if exchange.status is not None and exchange.status >= 400:
            if exchange.status != 400:
                yield Tolerated(f"HTTP {exchange.status}, 400 expected", exchange)
        else:
            yield exchange, f"HTTP {exchange.status}, 400 expected for an unknown version"
